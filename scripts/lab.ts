/**
 * Runs a lab of docs/labs in namespaces of its own and prints its commands and their output as they run; with --write,
 * puts the output into the page where it differs. Needs root: sudo scripts/node scripts/lab.ts bridge [--write]
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from '../src/lib/message-of.ts'
import { type LabPage, labPage, withOutputs } from '../test/labs/lab-page.ts'
import { OutputMatcher } from '../test/labs/output-matcher.ts'
import { missingPrograms, runLab } from '../test/labs/run-lab.ts'

const folder = join(import.meta.dirname, '../docs/labs')
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .map((file) => file.slice(0, -3))
const { values, positionals } = parseArgs({ allowPositionals: true, options: { write: { type: 'boolean' } } })
const [name = ''] = positionals
try {
  checkUse()
  await main(values.write ?? false)
} catch (error) {
  console.error(messageOf(error))
  process.exitCode = 1
}

function checkUse(): void {
  if (!names.includes(name))
    throw new Error(`usage: scripts/node scripts/lab.ts NAME [--write]; the labs are ${names.join(', ')}`)
  if (process.getuid?.() !== 0) throw new Error('labs make network namespaces: run this with sudo')
}

async function main(isWritten: boolean): Promise<void> {
  const file = join(folder, `${name}.md`)
  const markdown = readFileSync(file, 'utf8')
  const page = labPage(markdown)
  const missing = missingPrograms(page)
  if (missing.length > 0) throw new Error(`this machine has no ${missing.join(', ')}: install them and try again`)
  const outputs = await outputsOf(page)
  if (isWritten) writeFileSync(file, withOutputs(markdown, page.commands, outputs))
}

/** Prints the outputs; returns those that differ from the page. */
async function outputsOf(page: LabPage): Promise<(readonly string[] | undefined)[]> {
  const matcher = new OutputMatcher(
    page.commands.map(({ command }) => command),
    page.varies,
  )
  const ends: (() => unknown)[] = []
  const outputs: (readonly string[] | undefined)[] = []
  try {
    await runLab({ after: (end) => ends.push(end) }, page, (index, printed) => {
      const { command, output } = page.commands[index]!
      const lines = printed
        .map((line) => line.trimEnd())
        .join('\n')
        .trimEnd()
        .split('\n')
      const shown = lines.length === 1 && lines[0] === '' ? [] : lines
      process.stdout.write(`$ ${command}\n${shown.map((line) => `${line}\n`).join('')}`)
      outputs.push(matcher.matches(output, printed) ? undefined : shown)
    })
  } finally {
    for (const end of ends) await end()
  }
  return outputs
}
