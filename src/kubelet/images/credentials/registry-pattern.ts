/** Patterns of registries and repositories, as in Docker configs and `matchImages` of credential providers. */

interface Place {
  readonly host: readonly string[]
  readonly port: string
  readonly path: string
}

/**
 * Returns true if an image (registry and repository) matches a pattern. Hosts match part by part, with `*`, `?` and
 * `[a-z]` in each; ports are equal; the pattern's path is a prefix of the image's.
 * @example matchesRegistry('*.registry.test/team', 'a.registry.test/team/app') // true
 */
export function matchesRegistry(pattern: string, image: string): boolean {
  const wanted = placeOf(pattern)
  const given = placeOf(image)
  return (
    wanted.port === given.port &&
    wanted.host.length === given.host.length &&
    given.path.startsWith(wanted.path) &&
    wanted.host.every((part, i) => matchesPart(part, given.host[i]!))
  )
}

function placeOf(url: string): Place {
  const [, address = '', path = ''] = /^(?:https?:\/\/)?([^/]*)(.*)$/s.exec(url) ?? []
  const [, host = address, port = ''] = /^(.*):(\d*)$/s.exec(address) ?? []
  return { host: host.split('.'), port, path }
}

/** Goes back to the last `*` only, so that no pattern is slow. */
function matchesPart(pattern: string, text: string): boolean {
  let at = 0
  let star: { readonly pattern: number; text: number } | undefined
  for (let i = 0; i < text.length || at < pattern.length; ) {
    if (pattern[at] === '*') {
      star = { pattern: at + 1, text: i }
      at++
      continue
    }
    const next = i < text.length ? matchCharacter(pattern, at, text[i]!) : undefined
    if (next !== undefined) {
      at = next
      i++
      continue
    }
    if (!star || star.text >= text.length) return false
    star.text++
    at = star.pattern
    i = star.text
  }
  return true
}

/** The position after the part of the pattern that matches a character; undefined if it does not match. */
function matchCharacter(pattern: string, at: number, character: string): number | undefined {
  switch (pattern[at]) {
    case undefined:
      return undefined
    case '?':
      return at + 1
    case '\\':
      return pattern[at + 1] === character ? at + 2 : undefined
    case '[':
      return matchClass(pattern, at, character)
    default:
      return pattern[at] === character ? at + 1 : undefined
  }
}

/** Matches `[a-z]` and `[^a-z]`. */
function matchClass(pattern: string, at: number, character: string): number | undefined {
  const end = pattern.indexOf(']', at + 2)
  if (end < 0) return undefined
  const isNegated = pattern[at + 1] === '^'
  const inside = pattern.slice(at + (isNegated ? 2 : 1), end)
  let isInside = false
  for (let i = 0; i < inside.length; i++)
    if (inside[i + 1] === '-' && i + 2 < inside.length) {
      isInside ||= character >= inside[i]! && character <= inside[i + 2]!
      i += 2
    } else isInside ||= inside[i] === character
  return isInside === isNegated ? undefined : end + 1
}
