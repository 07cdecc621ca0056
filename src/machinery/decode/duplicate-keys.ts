/**
 * Duplicate keys in objects of a JSON text. JSON.parse silently takes the last; the server warns or rejects. All texts
 * here are known to be valid JSON.
 */

/** Returns the index after the string whose opening quote is at `start`. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    if (end < 0) return text.length
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === 92) slashes++
    if (slashes % 2 === 0) return end + 1
  }
}

export interface TextSurvey {
  /** The number of `"key":`. If it is larger than the number of keys in the parsed tree, some keys are duplicates. */
  readonly keys: number
  /** True if a number has a point or an exponent. */
  readonly hasFloats: boolean
}

/** Returns true if a part of the text without strings has a number with a point or an exponent. */
function hasFloat(text: string, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code !== 46 && code !== 69 && code !== 101) continue
    const before = text.charCodeAt(at - 1)
    if (before >= 48 && before <= 57) return true
  }
  return false
}

/** Scans a text once. */
export function surveyText(text: string): TextSurvey {
  let keys = 0
  let start = text.indexOf('"')
  let hasFloats = hasFloat(text, 0, start < 0 ? text.length : start)
  while (start >= 0) {
    let end = stringEnd(text, start)
    let code = text.charCodeAt(end)
    while (code === 32 || (code >= 9 && code <= 13)) code = text.charCodeAt(++end)
    if (code === 58) keys++
    start = text.indexOf('"', end)
    hasFloats ||= hasFloat(text, end, start < 0 ? text.length : start)
  }
  return { keys, hasFloats }
}

export const countKeys = (text: string): number => surveyText(text).keys

/**
 * Returns true if the text from which the value was parsed has a duplicate key, or keys that are nested deeper than
 * `depth`, which are not checked.
 */
export const hasRepeatedKeys = (text: string, value: unknown, depth: number): boolean =>
  countKeys(text) !== keysOf(value, depth)

function keysOf(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null || depth < 0) return 0
  let count = 0
  if (Array.isArray(value)) for (const item of value) count += keysOf(item, depth - 1)
  else for (const key in value) count += 1 + keysOf((value as Record<string, unknown>)[key], depth - 1)
  return count
}

/** One step of a path: a name, an index, or the key of a map (which Go's type errors omit). */
export type PathElement = string | number | { readonly key: string }

/** The path of a key from the root. */
export type KeyPath = readonly PathElement[]

/** Formats a path as in messages: `spec.containers[0].image`. */
export function fieldPath(path: KeyPath): string {
  let text = ''
  for (const element of path) {
    if (typeof element === 'number') text += `[${element}]`
    else {
      const name = typeof element === 'string' ? element : element.key
      text += text ? `.${name}` : name
    }
  }
  return text
}

interface Level {
  /** Keys seen so far; undefined in arrays. */
  readonly seen: Set<string> | undefined
  index: number
}

/**
 * Calls `visit` for every key in the order of the text. `repeated` is true if the same object had the key before. The
 * path is only valid during the call.
 */
export function visitKeys(text: string, visit: (path: KeyPath, repeated: boolean) => void): void {
  const levels: Level[] = []
  const path: PathElement[] = []
  let expectsKey = false
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 123: // {
        levels.push({ seen: new Set(), index: 0 })
        path.push('')
        expectsKey = true
        break
      case 91: // [
        levels.push({ seen: undefined, index: 0 })
        path.push(0)
        expectsKey = false
        break
      case 125: // }
      case 93: // ]
        levels.pop()
        path.pop()
        expectsKey = false
        break
      case 44: {
        // ,
        const level = levels[levels.length - 1]
        if (!level) break
        expectsKey = level.seen !== undefined
        if (!expectsKey) path[path.length - 1] = ++level.index
        break
      }
      case 34: {
        // "
        const end = stringEnd(text, at)
        if (expectsKey) {
          const { seen } = levels[levels.length - 1]!
          const key = JSON.parse(text.slice(at, end)) as string
          path[path.length - 1] = key
          visit(path, seen!.has(key))
          seen!.add(key)
          expectsKey = false
        }
        at = end - 1
        break
      }
    }
  }
}

/** Returns the distinct paths of duplicate keys, at most 100, as upstream. */
export function duplicateKeys(text: string): string[] {
  const found = new Set<string>()
  visitKeys(text, (path, repeated) => {
    if (repeated && found.size < 100) found.add(fieldPath(path))
  })
  return [...found]
}
