/** Says what is being done; not on the standard output, which holds the report alone. */
export function progress(what: string): void {
  console.error(`… ${what}`)
}
