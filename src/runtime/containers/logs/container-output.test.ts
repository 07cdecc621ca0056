import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  constants,
  cpSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { endMark, keeperFiles } from '../keeper.ts'
import { ContainerOutput } from './container-output.ts'

/** The folder of a container, with the FIFOs of a keeper, and functions of a container that writes. */
function containerIn(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-output-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [out, err] = [keeperFiles.out, keeperFiles.err].map((name) => join(folder, name)) as [string, string]
  execFileSync('mkfifo', [out, err])
  writeFileSync(join(folder, keeperFiles.token), 'token\n')
  const files = [out, err].map((path) => openSync(path, constants.O_RDWR | constants.O_NONBLOCK))
  t.after(() => files.forEach((file) => void closeSync(file)))
  const logPath = join(folder, 'container.log')
  return {
    folder,
    logPath,
    open: () => new ContainerOutput({ folder, logPath, terminal: undefined }),
    write: (text: string) => void writeSync(files[0]!, text),
    end: () => files.forEach((file) => void writeSync(file, endMark(folder))),
    log: () => readFileSync(logPath, 'utf8').replace(/^\S+ /gm, ''),
  }
}

test('output goes to the log, up to the mark of the keeper', async (t) => {
  const container = containerIn(t)
  const output = container.open()
  container.write('one\ntwo\nend')
  container.end()
  await output.ended()
  output.finish()
  output.discard()
  assert.equal(container.log(), 'stdout F one\nstdout F two\nstdout P end\n')
})

test('a later runtime continues an incomplete line, and loses nothing', async (t) => {
  const container = containerIn(t)
  const first = container.open()
  container.write('one\ntw')
  while (container.log() !== 'stdout F one\n') await new Promise(setImmediate)
  first.close()
  container.write('o\n')
  const second = container.open()
  container.end()
  await second.ended()
  second.finish()
  assert.equal(container.log(), 'stdout F one\nstdout F two\n')
})

test('what a killed runtime has added without recording it is added once', async (t) => {
  const container = containerIn(t)
  const first = container.open()
  container.write('one\n')
  while (container.log() !== 'stdout F one\n') await new Promise(setImmediate)
  const before = join(container.folder, 'before')
  cpSync(join(container.folder, 'output/progress'), before)
  container.write('two\nthree\n')
  while (!container.log().includes('three')) await new Promise(setImmediate)
  first.close()
  cpSync(before, join(container.folder, 'output/progress'))
  appendFileSync(container.logPath, 'half a li')
  const second = container.open()
  container.end()
  await second.ended()
  second.finish()
  assert.equal(container.log(), 'stdout F one\nstdout F two\nstdout F three\n')
})

test('a rotated log is not shortened', async (t) => {
  const container = containerIn(t)
  const output = container.open()
  container.write('one\n')
  while (container.log() !== 'stdout F one\n') await new Promise(setImmediate)
  execFileSync('mv', [container.logPath, `${container.logPath}.1`])
  output.reopenLog()
  container.write('two\n')
  container.end()
  await output.ended()
  output.finish()
  assert.equal(container.log(), 'stdout F two\n')
  assert.match(readFileSync(`${container.logPath}.1`, 'utf8'), /one\n$/)
})

test('more output than a FIFO holds reaches the log', async (t) => {
  const container = containerIn(t)
  const output = container.open()
  const line = `${'x'.repeat(99)}\n`
  for (let written = 0; written < 3_000; written += 600) {
    container.write(line.repeat(600))
    while (container.log().length < (written + 600) * 109) await new Promise(setImmediate)
  }
  container.end()
  await output.ended()
  output.finish()
  assert.equal(container.log(), `stdout F ${line}`.repeat(3_000))
})
