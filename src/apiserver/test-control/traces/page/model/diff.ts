/** Compares two texts line by line. */

/** A line of both texts, or of one of them. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** A comparison of more pairs of lines is not worth its time. */
const maxPairs = 4_000_000

/** Returns the lines of both texts in order; removed lines come before those that replace them. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  const rest = Math.min(before.length, after.length) - start
  while (end < rest && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const same = (text: string): DiffLine => ({ kind: 'same', text })
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ]
}

/** The longest common subsequence, by dynamic programming. */
function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const removed = before.map((text): DiffLine => ({ kind: 'removed', text }))
  const added = after.map((text): DiffLine => ({ kind: 'added', text }))
  if (before.length * after.length > maxPairs || before.length === 0 || after.length === 0)
    return [...removed, ...added]
  const width = after.length + 1
  const lengths = new Uint32Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        before[i] === after[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
  const result: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      result.push({ kind: 'same', text: before[i]! })
      i++
      j++
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) result.push(removed[i++]!)
    else result.push(added[j++]!)
  }
  return [...result, ...removed.slice(i), ...added.slice(j)]
}

/** Lines, or a number of unchanged lines that are not shown. */
export type DiffPart = DiffLine | { readonly hidden: number }

/** Leaves out unchanged lines that are more than `context` lines away from a change. */
export function foldSame(lines: readonly DiffLine[], context = 3): DiffPart[] {
  const isNear = new Uint8Array(lines.length)
  lines.forEach(({ kind }, index) => {
    if (kind !== 'same') isNear.fill(1, Math.max(0, index - context), index + context + 1)
  })
  const result: DiffPart[] = []
  let hidden = 0
  const flush = (): void => {
    if (hidden > 0) result.push({ hidden })
    hidden = 0
  }
  lines.forEach((line, index) => {
    if (isNear[index]) {
      flush()
      result.push(line)
    } else hidden++
  })
  flush()
  return result
}
