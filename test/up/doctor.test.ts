/** `t8s doctor` in namespaces with cgroups that killed clusters have left. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { repository, t8s, temporaryFolder } from './t8s-process.ts'

const skip = process.getuid?.() !== 0 && 'needs root'
const [empty, populated, running, killed] = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(12))

/** Cgroups of three clusters in one of this test, of old age. Returns its path. */
function oldCgroups(t: TestContext): string {
  const controller = existsSync('/sys/fs/cgroup/pids') ? '/sys/fs/cgroup/pids' : '/sys/fs/cgroup'
  const parent = join(controller, `doctor-test-${process.pid}`)
  const paths = [`t8s-${empty}`, `t8s-${empty}/pod`, `t8s-${populated}`, `t8s-${running}`].map((path) =>
    join(parent, path),
  )
  for (const path of [parent, ...paths]) mkdirSync(path)
  for (const path of paths) utimesSync(path, 0, 0)
  t.after(() => {
    for (const path of [...paths.reverse(), parent]) if (existsSync(path)) rmdirSync(path)
  })
  return parent
}

/** A program that listens on port 6443, and on the socket of a runtime. */
const listener = `
require('node:net').createServer().listen('/run/typernetes/${running}/runtime.sock', () =>
  require('node:net').createServer((socket) => socket.end()).listen(6443, '127.0.0.1', () => console.log('ready')))`

const script = `
set -e
ip link set lo up
mount --bind "$CGROUPS" "$FOLDER"
mount -t tmpfs tmpfs /sys/fs/cgroup
mkdir /sys/fs/cgroup/pids
mount --bind "$FOLDER" /sys/fs/cgroup/pids
mkdir -p /run/typernetes
mount -t tmpfs tmpfs /run/typernetes
mkdir /run/typernetes/${running} /run/typernetes/${killed}
touch /run/typernetes/${killed}/runtime.sock
sleep 60 &
echo $! > /sys/fs/cgroup/pids/t8s-${populated}/cgroup.procs
mkfifo "$FOLDER.ready"
"$NODE" -e "$LISTENER" > "$FOLDER.ready" &
read ready < "$FOLDER.ready"
./t8s doctor && exit 3
echo fixing
./t8s doctor --fix --secure-port 7443
`

test('doctor reports leftovers of killed clusters, and removes empty cgroups', { skip }, (t) => {
  const cgroups = oldCgroups(t)
  const folder = join(temporaryFolder(t), 'cgroups')
  mkdirSync(folder)
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['-m', '-n', '-p', '-f', '--mount-proc', '--kill-child', 'sh', '-c', script],
    {
      cwd: repository,
      env: { ...process.env, CGROUPS: cgroups, FOLDER: folder, NODE: process.execPath, LISTENER: listener },
      encoding: 'utf8',
      timeout: 60_000,
      killSignal: 'SIGKILL',
    },
  )
  assert.equal(status, 0, stdout + stderr)
  const [before = '', after = ''] = stdout.split('fixing\n')
  assert.match(before, /^x {2}port 6443, on which t8s up listens, is in use by another program\n {3}-> stop/m)
  assert.match(before, /^! {2}1 process in cgroups t8s-b{12} of a cluster that does not run: \d+\n {3}-> start/m)
  assert.match(before, /^! {2}folders of killed clusters: \/run\/typernetes\/d{12}\n {3}-> .*sudo rm -r/m)
  assert.match(before, /^! {2}1 empty cgroup of 1 killed cluster\n {3}-> t8s doctor --fix removes them$/m)
  assert.match(before, /^1 problem prevents a cluster/m)
  assert.match(after, /^ok port 7443 is free$/m)
  assert.match(after, /^ok removed 1 empty cgroup of killed clusters$/m)
  assert.match(after, /^nothing prevents a cluster: t8s up starts one$/m)
  const remaining = readdirSync(cgroups).filter((name) => name.startsWith('t8s-'))
  assert.deepEqual(remaining.sort(), [`t8s-${populated}`, `t8s-${running}`])
})

test('doctor works without kubectl, and names a proxy', (t) => {
  const env = { PATH: '/usr/bin:/bin', HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: '' }
  const { stdout, stderr } = t8s(['doctor', '--secure-port=0', `--data-dir=${temporaryFolder(t)}`], { env })
  assert.equal(stderr, '')
  assert.match(stdout, /^!.*HTTPS_PROXY is set.*\n {3}-> export NO_PROXY=127\.0\.0\.1,localhost$/m)
  assert.match(stdout, /^(ok kubectl 1|! {2}kubectl )/m)
})
