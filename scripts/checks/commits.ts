/**
 * Checks the subjects of commits: `area: imperative sentence`, at most 72 characters. Without an argument it checks the
 * commits that the upstream branch does not have or, without an upstream branch, the last 50;
 * `scripts/checks/commits.ts main..HEAD` checks a range. Prints each fault; exits with 1 if there is any.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const maxLength = 72
const subject = /^(?<area>[a-z0-9][a-z0-9./-]*(?:, [a-z0-9][a-z0-9./-]*)*): (?<first>[A-Za-z`'"-]+)/
/** Verbs whose base form ends like a past or progressive form. */
const imperatives = new Set(['bring', 'embed', 'exceed', 'feed', 'need', 'ping', 'proceed', 'ring', 'seed', 'string'])
/** Subjects that were published before `npm test` checked them. */
const published = new Set(['tools: gather programs beside a cluster in one layer: panics, config, envtest'])

/** Returns what is wrong with the subject of a commit; undefined if it is fine. */
export function subjectFault(text: string): string | undefined {
  if (text.length > maxLength) return `has ${text.length} characters, ${text.length - maxLength} too many`
  const { first } = subject.exec(text)?.groups ?? {}
  if (!first) return 'is not of the form "area: imperative sentence"'
  if (/[a-z](?:ed|ing)$/.test(first) && !imperatives.has(first)) return `begins with "${first}": use the imperative`
  if (text.endsWith('.')) return 'ends with a full stop'
  return undefined
}

/** Returns the faults of commits in the repository of a folder; undefined if the folder has no history of its own. */
export function commitFaults(folder: string, range?: string): string[] | undefined {
  // A checkout of another user is read all the same: `git log` changes nothing.
  const git = (...args: string[]): string | undefined => {
    try {
      return execFileSync('git', ['-c', 'safe.directory=*', ...args], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim()
    } catch {
      return undefined
    }
  }
  // An empty prefix means the root: a folder without a repository may lie inside of another one.
  if (git('rev-parse', '--show-prefix') !== '') return undefined
  const commits = range ? [range] : git('rev-parse', '@{upstream}') ? ['@{upstream}..HEAD'] : ['-50']
  const lines = git('log', '--no-merges', '--format=%h %s', ...commits)
  if (lines === undefined && range) throw new Error(`git does not know the range ${range}`)
  return lines
    ?.split('\n')
    .filter(Boolean)
    .flatMap((line) => {
      const [, hash = '', text = ''] = /^(\S+) (.*)$/.exec(line) ?? []
      const fault = published.has(text) ? undefined : subjectFault(text)
      return fault ? `${hash} "${text}" ${fault}` : []
    })
}

function main([range]: readonly string[]): void {
  const faults = commitFaults(join(import.meta.dirname, '../..'), range)
  if (!faults) {
    console.log('skipped: this folder has no git history')
    // A clone of CI has all of it.
    if (process.env.CI === 'true') process.exitCode = 1
    return
  }
  for (const fault of faults) console.log(fault)
  if (faults.length > 0) process.exitCode = 1
}

if (import.meta.main) main(process.argv.slice(2))
