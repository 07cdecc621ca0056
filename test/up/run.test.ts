/** Tests of `t8s run`: the command has a cluster, the terminal and its signals, and nothing remains after it. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Home } from '../config/home.ts'
import { testTerminal, withoutTmux } from '../config/tmux.ts'
import { repository, t8s, temporaryFolder, withoutKubectl } from './t8s-process.ts'

const launcher = join(repository, 't8s')

test('run passes the terminal, a kubeconfig and the exit code, and leaves nothing behind but a trace', {
  skip: withoutKubectl,
}, (t) => {
  const folder = temporaryFolder(t)
  const script = 'kubectl create -f web.json; kubectl wait --for=condition=Ready pod/web; echo "$KUBECONFIG"; exit 7'
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'app', image: 'app' }] },
  }
  const { status, stdout, stderr } = spawnSync(
    launcher,
    ['run', '--trace-on-failure=trace.html', '--', 'sh', '-c', `cat > web.json; ${script}`],
    {
      cwd: folder,
      env: { ...process.env, TMPDIR: folder },
      input: JSON.stringify(pod),
      encoding: 'utf8',
      timeout: 60_000,
    },
  )
  assert.equal(stderr, 't8s: trace written to trace.html\n')
  const [created, ready, kubeconfig] = stdout.trim().split('\n')
  assert.deepEqual([created, ready, status], ['pod/web created', 'pod/web condition met', 7])
  assert.ok(kubeconfig?.startsWith(folder) && !existsSync(kubeconfig))
  assert.deepEqual(readdirSync(folder).sort(), ['trace.html', 'web.json'])
})

test('a signal reaches the command, and a signal that ends the command ends run', async (t) => {
  const folder = temporaryFolder(t)
  const ended = async (script: string, signal: NodeJS.Signals): Promise<unknown[]> => {
    const child = spawn(launcher, ['run', '--nodes=0', 'sh', '-c', script], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    const exited = once(child, 'exit')
    await once(child.stdout, 'data')
    child.kill(signal)
    return exited
  }
  const results = await Promise.all([
    ended('trap "exit 5" INT; echo started; while :; do sleep 0.1; done', 'SIGINT'),
    ended('echo started; exec sleep 60', 'SIGTERM'),
  ])
  assert.deepEqual(results, [
    [5, null],
    [null, 'SIGTERM'],
  ])
  assert.deepEqual(readdirSync(folder), [])
})

test('Ctrl-C on a terminal ends the command, with its exit code', { skip: withoutTmux }, async (t) => {
  const terminal = await testTerminal(t, new Home(t))
  const script = `trap 'echo interrupted; exit 5' INT; echo 'it runs'; while :; do sleep 0.1; done`
  terminal.types(`clear; ${launcher} run --nodes 0 -- sh -c "${script}"; echo "code $?"`)
  terminal.presses('Enter')
  await terminal.shows(/^it runs$/m)
  terminal.presses('C-c')
  assert.match(await terminal.shows(/^code/m), /interrupted\ncode 5$/m)
})

test('run reports commands that do not exist, or are missing, as shells do', () => {
  assert.deepEqual(t8s(['run', '--nodes=0', 'no-such-command']), {
    code: 127,
    stdout: '',
    stderr: 't8s: cannot run no-such-command: no such command; check its name and PATH\n',
  })
  const { code, stderr } = t8s(['run'])
  assert.equal(code, 1)
  assert.match(stderr, /^t8s: missing required argument 'COMMAND'/)
})
