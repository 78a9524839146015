const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
]

/** A length of time in its two largest units: `2d 3h`, `4m 5s`, `250ms`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`
  const first = UNITS.findIndex(([unit]) => ms >= unit)
  const [size, name] = UNITS[first]!
  const [smaller, smallerName] = UNITS[first + 1] ?? [size, '']
  const rest = Math.floor((ms % size) / smaller)
  return `${Math.floor(ms / size)}${name}${rest > 0 && smallerName !== '' ? ` ${rest}${smallerName}` : ''}`
}

/**
 * About how long, for columns: `3d`, `59m`, `90s`, `0s`; rounded in the largest unit of which there are two. Less than nothing, by a
 * clock of another machine, is `0s`.
 */
export function age(ms: number): string {
  const [size, name] = UNITS.find(([unit]) => ms >= 2 * unit) ?? UNITS.at(-1)!
  return `${Math.max(0, Math.round(ms / size))}${name}`
}
