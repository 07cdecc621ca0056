/**
 * Checks the subjects of commits: `area: imperative sentence`, at most 72 characters. Without an argument it checks the
 * commits since this file was added; `scripts/check-commits.ts main..HEAD` checks a range. Prints each fault; exits
 * with 1 if there is any.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const maxLength = 72
const subject = /^(?<area>[a-z0-9][a-z0-9./-]*(?:, [a-z0-9][a-z0-9./-]*)*): (?<first>[A-Za-z`'"-]+)/
/** Verbs whose base form ends like a past or progressive form. */
const imperatives = new Set(['bring', 'embed', 'exceed', 'feed', 'need', 'ping', 'proceed', 'ring', 'seed', 'string'])

/** Returns what is wrong with the subject of a commit; undefined if it is fine. */
export function subjectFault(text: string): string | undefined {
  if (text.length > maxLength) return `has ${text.length} characters, ${text.length - maxLength} too many`
  const { first } = subject.exec(text)?.groups ?? {}
  if (!first) return 'is not of the form "area: imperative sentence"'
  if (/[a-z](?:ed|ing)$/.test(first) && !imperatives.has(first)) return `begins with "${first}": use the imperative`
  if (text.endsWith('.')) return 'ends with a full stop'
  return undefined
}

function main([range]: readonly string[]): void {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: join(import.meta.dirname, '..'), encoding: 'utf8' }).trim()
  const added = git('log', '--diff-filter=A', '--format=%h', '--', 'scripts/check-commits.ts').split('\n').at(-1)
  const checked = range ?? (added ? `${added}..HEAD` : 'HEAD~0..HEAD')
  for (const line of git('log', '--no-merges', '--format=%h %s', checked).split('\n').filter(Boolean)) {
    const [, hash = '', text = ''] = /^(\S+) (.*)$/.exec(line) ?? []
    const fault = subjectFault(text)
    if (!fault) continue
    console.log(`${hash} "${text}" ${fault}`)
    process.exitCode = 1
  }
}

if (import.meta.main) main(process.argv.slice(2))
