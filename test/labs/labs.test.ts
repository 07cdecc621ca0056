/** Runs each page of docs/labs, and compares what its commands print with the page. Needs root. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { skipWithoutRoot } from '../kubelet/support/in-namespaces.ts'
import { labPage } from './lab-page.ts'
import { OutputMatcher } from './output-matcher.ts'
import { missingPrograms, runLab } from './run-lab.ts'

const folder = join(import.meta.dirname, '../../docs/labs')

// They wait more than they compute.
suite('labs', { concurrency: 3 }, () => {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md'))
    test(`docs/labs/${file} shows what its commands print`, { skip: skipWithoutRoot }, (t) => check(t, file))
})

async function check(t: TestContext, file: string): Promise<void> {
  const page = labPage(readFileSync(join(folder, file), 'utf8'))
  const missing = missingPrograms(page)
  if (missing.length > 0) return t.skip(`needs ${missing.join(', ')}`)
  const commands = page.commands.map(({ command }) => command)
  const matcher = new OutputMatcher(commands, page.varies)
  await runLab(t, page, (index, printed) => {
    const { command, output, line } = page.commands[index]!
    const problem = `${file}:${line}: $ ${command}\ndocumented:\n${output.join('\n')}\nprinted:\n${printed.join('\n')}`
    assert.ok(matcher.matches(output, printed), problem)
  })
}
