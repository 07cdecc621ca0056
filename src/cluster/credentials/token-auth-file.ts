/**
 * Parses `--token-auth-file` and `--basic-auth-file`: lines of `token,user,uid,"group1,group2"`, or with passwords.
 * Errors contain the line number, never the secret.
 */
import type { PasswordUser } from '../../apiserver/authentication/passwords.ts'
import type { TokenUser } from '../../apiserver/authentication/tokens/static-tokens.ts'
import type { UserInfo } from '../../apiserver/request-info/user-info.ts'
import { ExplainedError } from '../../lib/explained-error.ts'

/** Parses the users of a token file; `file` is used in errors. Empty lines are skipped. */
export const parseTokens = (text: string, file: string): TokenUser[] =>
  parseLines(text, file, 'token').map(({ secret, user }) => ({ token: secret, user }))

/** Parses the users of a password file. */
export const parsePasswords = (text: string, file: string): PasswordUser[] =>
  parseLines(text, file, 'password').map(({ secret, user }) => ({ password: secret, user }))

interface Line {
  readonly secret: string
  readonly user: UserInfo
}

/** A token must be unique, since it identifies the user; in a password file the user must be. */
function parseLines(text: string, file: string, kind: 'token' | 'password'): Line[] {
  const lines = new Map<string, number>()
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return []
    const wrong = (what: string): ExplainedError =>
      new ExplainedError(`${file}:${index + 1}: ${what}; a line reads ${kind},user,uid,"group1,group2"`)
    const fields = csvFields(line)
    if (!fields) throw wrong('a quote is not closed or is inside a field')
    const [secret = '', name = '', uid = '', groups = ''] = fields
    if (fields.length < 3) throw wrong(`there are ${fields.length} columns, at least 3 are needed`)
    if (secret === '') throw wrong(`the ${kind} is empty`)
    if (name === '') throw wrong('the user name is empty')
    const key = kind === 'token' ? secret : name
    const other = lines.get(key)
    if (other !== undefined) throw wrong(`the ${kind === 'token' ? kind : 'user'} is the same as on line ${other}`)
    lines.set(key, index + 1)
    const names = groups.split(',').map((group) => group.trim())
    return [{ secret, user: { name, ...(uid && { uid }), groups: names.filter((group) => group !== '') } }]
  })
}

/** Splits a CSV line (RFC 4180, without line breaks in fields); undefined if its quotes are wrong. */
function csvFields(line: string): string[] | undefined {
  const fields: string[] = []
  const field = /\s*(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y
  for (;;) {
    const match = field.exec(line)
    if (!match) return undefined
    fields.push(match[1]?.replaceAll('""', '"') ?? (match[2] ?? '').trim())
    if (match[3] === '') return fields
  }
}
