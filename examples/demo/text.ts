import { styleText } from 'node:util'

/** Colours text, or leaves it as it is. */
export type Paint = (style: 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan', text: string) => string

/** Colours for a stream that is a terminal and shows them; `NO_COLOR` and `TERM=dumb` are heeded. */
export function paintFor(stream: NodeJS.WriteStream): Paint {
  const colours = stream.isTTY && stream.hasColors()
  return (style, text) => (colours ? styleText(style, text) : text)
}

const PLAIN = new Intl.NumberFormat('en-US')

/** 1234567 as 1,234,567. */
export function number(value: number): string {
  return PLAIN.format(value)
}

/** A count and its noun: 1 file, 2 files. */
export function count(value: number, noun: string, plural: string = `${noun}s`): string {
  return `${number(value)} ${value === 1 ? noun : plural}`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** Bytes in decimal units: 1.5 MB. */
export function size(bytes: number): string {
  let value = bytes
  let unit = 0
  // 999.95 would be shown as 1000.0.
  while (value >= 999.95 && unit < UNITS.length - 1) {
    value /= 1_000
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`
}

/** Milliseconds in the unit that suits them: 12 ms, 3.4 s, 2 min 5 s. */
export function time(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  return `${number(Math.floor(seconds / 60))} min ${seconds % 60} s`
}
