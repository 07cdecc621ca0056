/**
 * Checkpoints of containers. criu does not work on every kernel, so a program in front of runc writes the memory in its
 * place, unless a test wants the real one; it passes all other commands to runc.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { executorVariable } from './support/test-executor.ts'
import { TestRuntime } from './support/test-runtime.ts'

/** The container must be paused while its memory is written. */
const runcScript = (real: string, folder: string): string => `#!/bin/sh
case " $* " in *' checkpoint '*) ;; *) exec ${real} "$@" ;; esac
[ -e ${folder}/real ] && exec ${real} "$@"
while [ $# -gt 1 ]; do
  case $1 in --image-path) images=$2 ;; --work-path) work=$2 ;; --root) root=$2 ;; esac
  shift
done
[ -e ${folder}/slow ] && exec sleep 60
${real} --root "$root" state "$1" >"$images/state.img"
echo pages >"$images/pages-1.img"
echo dumped >"$work/dump.log"
`

/** A container that writes a line every 50 ms, and the folders of the tests. */
async function setUp() {
  const folder = mkdtempSync(join(tmpdir(), 't8s-checkpoints-'))
  const real = execFileSync('sh', ['-c', 'command -v runc'], { encoding: 'utf8' }).trim()
  writeFileSync(join(folder, 'runc'), runcScript(real, folder), { mode: 0o755 })
  process.env.PATH = `${folder}:${process.env.PATH}`
  process.env[executorVariable] = 'runc'
  const archives = join(folder, 'archives')
  mkdirSync(archives)
  const runtime = await TestRuntime.start()
  after(() => rmSync(folder, { recursive: true }))
  const { client } = runtime
  const sandbox = await runtime.sandbox()
  const writing = 'echo changed >/root/new; rm /etc/passwd; while :; do echo line; sleep 0.05; done'
  const id = await runtime.run(sandbox, writing)
  await waitFor('the container has written', () => runtime.logOf(id).then((lines) => lines.length > 3))
  const unpack = (archive: string, ...names: readonly string[]): string =>
    execFileSync('tar', ['-xOf', archive, ...names], { encoding: 'utf8' })
  const goesOn = async (): Promise<void> => {
    const { length } = await runtime.logOf(id)
    await waitFor('the container goes on', () => runtime.logOf(id).then((lines) => lines.length > length))
  }
  const isClean = (): boolean => readdirSync(join(runtime.folder, 'root/checkpoints')).length === 0
  return { archives, client, folder, goesOn, id, isClean, runtime, sandbox, unpack, writing }
}

type Parts = Awaited<ReturnType<typeof setUp>>

function testArchive({ archives, client, goesOn, id, isClean, unpack, writing }: Parts): void {
  test('the archive has memory, changed files, the log and the description of the container', async () => {
    const archive = join(archives, 'one.tar')
    writeFileSync(archive, 'an earlier archive')
    await client.checkpoint(id, archive, 0)
    const members = execFileSync('tar', ['-tf', archive], { encoding: 'utf8' }).trim().split('\n')
    const expected = ['spec.dump', 'config.dump', 'status.dump', 'dump.log', 'rootfs-diff.tar', 'container.log']
    assert.deepEqual(members, [...expected, 'checkpoint/', 'checkpoint/pages-1.img', 'checkpoint/state.img'])
    assert.equal(statSync(archive).mode & 0o777, 0o600)
    assert.equal(JSON.parse(unpack(archive, 'checkpoint/state.img')).status, 'paused')
    const { id: containerId, name, rootfsImageName, runtime: executor } = JSON.parse(unpack(archive, 'config.dump'))
    assert.deepEqual([containerId, name, rootfsImageName, executor], [id, 'container-2', 'busybox', 'runc'])
    assert.deepEqual(JSON.parse(unpack(archive, 'spec.dump')).process.args, ['sh', '-c', writing])
    assert.equal(JSON.parse(unpack(archive, 'status.dump')).Pid > 1, true)
    assert.match(unpack(archive, 'container.log'), /stdout F line/)
    execFileSync('tar', ['-xf', archive, '-C', archives, 'rootfs-diff.tar'])
    const changes = execFileSync('tar', ['-tf', join(archives, 'rootfs-diff.tar')], { encoding: 'utf8' })
    assert.match(changes, /^root\/new$/m)
    assert.match(changes, /^etc\/\.wh\.passwd$/m)
    assert.equal(unpack(join(archives, 'rootfs-diff.tar'), 'root/new'), 'changed\n')
    await goesOn()
    assert(isClean())
  })
}

function testFailures({ archives, client, folder, goesOn, id, isClean }: Parts): void {
  test('a dump that fails or takes too long leaves no archive, and the container goes on', async () => {
    const archive = join(archives, 'two.tar')
    const none = join(archives, 'none', 'two.tar')
    await assert.rejects(client.checkpoint(id, none, 0), /cannot checkpoint container .*no such file or directory/)
    writeFileSync(join(folder, 'slow'), '')
    await assert.rejects(client.checkpoint(id, archive, 1), /has not ended after 1000 ms|DeadlineExceeded/)
    await goesOn()
    rmSync(join(folder, 'slow'))
    writeFileSync(join(folder, 'real'), '')
    // criu works on this machine, or its error is a sentence.
    const failure = await client.checkpoint(id, archive, 0).catch((error: Error) => error.message)
    rmSync(join(folder, 'real'))
    if (failure === undefined) assert(existsSync(archive))
    else
      assert.match(
        failure,
        /^rpc error: .* cannot checkpoint container "\w+": (?:criu cannot dump it|runc checkpoint): .+$/,
      )
    await goesOn()
    assert.deepEqual([existsSync(archive), isClean()], [failure === undefined, true])
  })
}

function testStates({ archives, client, goesOn, id, isClean, runtime, sandbox }: Parts): void {
  test('only containers that run can be checkpointed', async () => {
    await assert.rejects(client.checkpoint('none', join(archives, 'x'), 0), { code: 'NotFound' })
    const ended = await runtime.run(sandbox, 'exit 0')
    await runtime.ended(ended)
    await assert.rejects(client.checkpoint(ended, join(archives, 'x'), 0), /is exited, not running/)
  })

  test('a container that a killed runtime has paused goes on with the next one', async () => {
    await runtime.stopServer()
    mkdirSync(join(runtime.folder, 'root/checkpoints', id))
    execFileSync('runc', ['--root', join(runtime.folder, 'state/runc'), 'pause', id])
    await runtime.startServer()
    await goesOn()
    assert(isClean())
  })
}

await inNamespaces(import.meta.filename, async () => {
  const parts = await setUp()
  testArchive(parts)
  testFailures(parts)
  testStates(parts)
})
