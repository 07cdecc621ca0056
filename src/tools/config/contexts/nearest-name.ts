/** Suggests a name for a misspelled one. */

/** Returns the name with the smallest edit distance if that is at most two letters or a third of the name. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((other) => ({ other, distance: distance(name.toLowerCase(), other.toLowerCase()) }))
    .filter(
      ({ other, distance: far }) =>
        far <= Math.max(Math.min(2, other.length - 1), Math.floor(Math.max(name.length, other.length) / 3)),
    )
    .sort((a, b) => a.distance - b.distance)
  return best?.other
}

/** The edit distance (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (letter === b[j] ? 0 : 1)))
    row = next
  }
  return row[b.length]!
}
