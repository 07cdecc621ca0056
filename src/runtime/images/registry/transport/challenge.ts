/** Challenges of `WWW-Authenticate` (RFC 9110): how a registry wants its clients to authenticate. */

export interface Challenge {
  /** In lower case: `bearer`, `basic`. */
  readonly scheme: string
  /** By names in lower case. */
  readonly parameters: ReadonlyMap<string, string>
}

const token = "[!#$%&'*+.^_`|~A-Za-z0-9-]+"
const parameter = new RegExp(`\\s*(${token})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,]+))\\s*(?:,|$)`, 'y')
const scheme = new RegExp(`\\s*,?\\s*(${token})(?:\\s+|$|(?=,))`, 'y')

/** Parses a header with one or more challenges. Ignores what follows a part that it cannot read. */
export function parseChallenges(header: string): Challenge[] {
  const challenges: Challenge[] = []
  for (let at = 0; at < header.length; ) {
    scheme.lastIndex = at
    const [matched, name = ''] = scheme.exec(header) ?? []
    if (!matched) break
    at += matched.length
    const parameters = new Map<string, string>()
    for (;;) {
      parameter.lastIndex = at
      const [pair, key = '', quoted, plain = ''] = parameter.exec(header) ?? []
      if (!pair) break
      parameters.set(key.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain)
      at += pair.length
    }
    challenges.push({ scheme: name.toLowerCase(), parameters })
  }
  return challenges
}
