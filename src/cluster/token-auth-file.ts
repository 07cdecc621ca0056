/** Reads `--token-auth-file`: lines of `token,user,uid,"group1,group2"`, as kube-apiserver takes them. Errors name the line, never the token. */
import type { TokenUser } from '../apiserver/authentication/tokens/static-tokens.ts'
import { ExplainedError } from '../lib/explained-error.ts'

/** The users of a token file; `file` is named in errors. Empty lines are skipped. */
export function parseTokens(text: string, file: string): TokenUser[] {
  const lines = new Map<string, number>()
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return []
    const wrong = (what: string): ExplainedError => new ExplainedError(`${file}:${index + 1}: ${what}; a line reads token,user,uid,"group1,group2"`)
    const fields = csvFields(line)
    if (!fields) throw wrong('a quote is not closed or stands inside a field')
    const [token = '', name = '', uid = '', groups = ''] = fields
    if (fields.length < 3) throw wrong(`there are ${fields.length} columns, at least 3 are needed`)
    if (token === '') throw wrong('the token is empty')
    if (name === '') throw wrong('the user name is empty')
    const other = lines.get(token)
    if (other !== undefined) throw wrong(`the token is the same as on line ${other}`)
    lines.set(token, index + 1)
    const names = groups.split(',').map((group) => group.trim())
    return [{ token, user: { name, ...(uid && { uid }), groups: names.filter((group) => group !== '') } }]
  })
}

/** The fields of a CSV line (RFC 4180, without line breaks in fields); undefined if its quotes are wrong. */
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
