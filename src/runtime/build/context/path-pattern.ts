/** Patterns of paths, as Go's `filepath.Match` reads them, with `**` for any number of folders. */

/** Matches complete paths without a slash at the beginning. Throws an Error for a pattern that is not valid. */
export function pathPattern(pattern: string): RegExp {
  let source = ''
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!
    if (char === '*' && pattern[at + 1] === '*') {
      at++
      if (pattern[at + 1] === '/') {
        at++
        source += '(?:.*/)?'
      } else source += '.*'
    } else if (char === '*') source += '[^/]*'
    else if (char === '?') source += '[^/]'
    else if (char === '[') {
      const end = pattern.indexOf(']', at + 2)
      if (end < 0) throw new Error(`${JSON.stringify(pattern)} has a [ without a ]`)
      source += `[${pattern
        .slice(at + 1, end)
        .replace(/\\/g, '\\\\')
        .replace(/\[/g, '\\[')}]`
      at = end
    } else source += literal(char === '\\' && at + 1 < pattern.length ? pattern[++at]! : char)
  }
  return new RegExp(`^${source}$`, 's')
}

const literal = (char: string): string => char.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')

/** True for a text that means more than one path. */
export const isPattern = (text: string): boolean => /[*?[]/.test(text)
