/**
 * Checks the words of comments, test titles and documentation against docs/words.md, and the width of lines. Prints
 * each fault with its file and line; exits with 1 if there is any.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const maxColumns = 120

interface Rule {
  readonly pattern: RegExp
  readonly advice: string
}

/** Words that are never right here. Most have an exact word in docs/words.md. */
const rules: readonly Rule[] = [
  { pattern: /\b(?:tells?|told|telling)\b/i, advice: 'write notify, record, log, report, return or print' },
  { pattern: /\banew\b/i, advice: 'write again, or rebuild, reload, retry' },
  { pattern: /\bunless said\b/i, advice: 'write "Default: …"' },
  { pattern: /\b(?:whoever|whomever)\b/i, advice: 'name the client, caller or user' },
]
/** A comment that begins with a clause in place of a noun. */
const opening: Rule = {
  pattern: /^(?:\/\*\*|\*|\/\/)\s+(?:What|Whether|Who|Whom|Whose) /,
  advice: 'begin with a noun or a verb: "The …", "Returns …", "True if …"',
}

/**
 * Returns the faults of a file as `line: advice`. Checks comments and test titles in code, and all lines elsewhere but
 * the output of programs.
 */
export function wordFaults(path: string, text: string): string[] {
  const isCode = path.endsWith('.ts')
  let block = ''
  return text.split('\n').flatMap((line, index) => {
    if (line.startsWith('```')) block = block === '' ? line : ''
    const isOutput = block === '```console' && !line.startsWith('$ ')
    const words = isCode ? proseOf(line) : isOutput ? undefined : line
    const found = words === undefined ? [] : rules.filter(({ pattern }) => pattern.test(words))
    const faults = found.map(({ pattern, advice }) => `"${pattern.exec(words!)?.[0]}": ${advice}`)
    if (isCode && opening.pattern.test(line.trim()) && !isContinued(text, index)) faults.push(opening.advice)
    if (isCode && line.length > maxColumns) faults.push(`${line.length} columns, at most ${maxColumns}`)
    return faults.map((fault) => `${index + 1}: ${fault}`)
  })
}

/** The comment or the title of a test in a line of code. */
function proseOf(line: string): string | undefined {
  const comment = /^\s*(?:\/\*\*|\*|\/\/)\s(.*)$/.exec(line) ?? /\s\/\/ (.*)$/.exec(line)
  const title = /^\s*(?:test|suite|describe|it)\(\s*(['"`])(.*?)\1/.exec(line)
  return comment?.[1] ?? title?.[2]
}

/** True for a line of a comment that continues a sentence of the line before. */
function isContinued(text: string, index: number): boolean {
  const before = text.split('\n')[index - 1]?.trim() ?? ''
  return /^(?:\*|\/\/)\s/.test(before) && !/[.:!?`)]$/.test(before)
}

function main(): void {
  const root = join(import.meta.dirname, '../..')
  const files = globSync(['{src,test,scripts,bench,examples}/**/*.ts', '*.md', 'docs/**/*.md'], { cwd: root }).sort()
  // These two name the words.
  for (const file of files.filter((path) => !['docs/words.md', 'scripts/checks/words.test.ts'].includes(path)))
    for (const fault of wordFaults(file, readFileSync(join(root, file), 'utf8'))) {
      console.log(`${file}:${fault}`)
      process.exitCode = 1
    }
}

if (import.meta.main) main()
