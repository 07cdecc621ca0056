import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { errorInLog } from './program-error.ts'
import { ProgramWriter } from './program-writer.ts'

/** Programs of other architectures need an emulator. */
const emulators: Readonly<Record<string, string | undefined>> = {
  x64: process.arch === 'x64' ? undefined : 'qemu-x86_64',
  arm64: process.arch === 'arm64' ? undefined : 'qemu-aarch64',
}

const isMissing = (program: string | undefined): string | false =>
  program !== undefined && spawnSync(program, ['--version']).error ? `needs ${program}` : false

function run(t: TestContext, writer: ProgramWriter, emulator: string | undefined) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-program-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'program')
  const log = join(folder, 'log')
  writeFileSync(program, writer.write(), { mode: 0o700 })
  const command = emulator ? `${emulator} ${program}` : program
  const { status, stdout } = spawnSync('sh', ['-c', `exec ${command} 3>>${log}`], { encoding: 'utf8' })
  return { status, stdout, error: errorInLog(log) }
}

for (const [architecture, emulator] of Object.entries(emulators)) {
  const skip = isMissing(emulator)
  test(`a program for ${architecture} makes its calls until one fails`, { skip }, (t) => {
    const writer = new ProgramWriter(architecture)
    writer.call('write', [1, 'one ', 4])
    writer.call('chdir', ['/nothing'], { ignored: ['EACCES', 'ENOENT'] })
    writer.call('chdir', ['/nothing'], { onError: 'two' })
    writer.call('write', [1, 'skipped ', 8])
    writer.label('two')
    writer.jump('three')
    writer.call('write', [1, 'skipped ', 8])
    writer.label('three')
    writer.call('write', [1, 'three', 5])
    writer.call('chdir', ['/nothing'], { message: 'cannot enter /nothing', exitCode: 5, ignored: ['EEXIST'] })
    writer.call('write', [1, 'never', 5])
    assert.deepEqual(run(t, writer, emulator), {
      status: 5,
      stdout: 'one three',
      error: 'cannot enter /nothing: no such file or directory',
    })
  })
  test(`a program for ${architecture} waits for its child and returns its exit code`, { skip }, (t) => {
    const writer = new ProgramWriter(architecture)
    const status = writer.data(Buffer.alloc(8))
    writer.call('clone', [17, 0, 0, 0, 0], { onPositive: 'parent' })
    writer.call('execve', ['/bin/sh', writer.texts(['sh', '-c', 'echo "$NAME"; exit 9']), writer.texts(['NAME=a b'])])
    writer.label('parent')
    writer.call('wait4', [-1, status, 0, 0])
    writer.finish(status)
    assert.deepEqual(run(t, writer, emulator), { status: 9, stdout: 'a b\n', error: undefined })
  })
}

test('there are no programs for other architectures', () => {
  assert.throws(() => new ProgramWriter('mips'), /need a machine of the architecture x64 or arm64, not mips/)
})
