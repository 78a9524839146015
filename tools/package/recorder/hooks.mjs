// Runs on the thread of the module hooks: writes down every module that is loaded, into the file it was given.
import { appendFileSync } from 'node:fs'

let file

export function initialize(given) {
  file = given
}

export function load(url, context, nextLoad) {
  appendFileSync(file, `${url}\n`)
  return nextLoad(url, context)
}
