/** A moment as people read it and as every option takes it: `2026-03-01T08:00:00Z`. */
export function moment(at: number | Date): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')
}
