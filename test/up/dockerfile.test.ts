/**
 * The Dockerfile, without a builder: its references, and the lines of its last stage in an overlay of this machine's
 * root, where they run as in a container.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { repository, temporaryFolder } from './t8s-process.ts'

const skip = process.getuid?.() !== 0 && 'needs root'

/** The instructions: name and arguments, without comments. */
const instructions = readFileSync(join(repository, 'Dockerfile'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(/ (.*)/s, 2) as [string, string])
const last = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'))
const value = (wanted: string): string => last.find(([name]) => name === wanted)?.[1] ?? ''

test('the image has a user without root, and names no host', () => {
  for (const [name, text] of instructions)
    if (name === 'FROM') assert.match(text, /^node:\$\{NODE_VERSION\}-slim( AS package)?$/)
  assert.equal(value('USER'), '1000:1000')
  const order = last.map(([name]) => name)
  assert.ok(order.indexOf('USER') > order.lastIndexOf('RUN'))
  const { bin, name } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    name: string
    bin: Readonly<Record<string, string>>
  }
  assert.ok(
    instructions.some(([step, text]) => step === 'RUN' && text.includes(`npm install`) && text.includes(` "${name}@`)),
  )
  assert.ok(Object.hasOwn(bin, JSON.parse(value('ENTRYPOINT'))[0]))
})

const script = `
set -e
ip link set lo up
mount -t tmpfs tmpfs "$FOLDER"
mkdir "$FOLDER/upper" "$FOLDER/work" "$FOLDER/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$FOLDER/upper,workdir=$FOLDER/work" "$FOLDER/root"
root=$FOLDER/root
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mkdir -p "$root$REPOSITORY"
mount --rbind "$REPOSITORY" "$root$REPOSITORY"
chroot "$root" sh -e -c "$RUN"
bin=$root/opt/typernetes/node_modules/.bin
mkdir -p "$bin"
ln -s "$REPOSITORY/t8s" "$bin/t8s"
ln -s "$NODE" "$bin/node"
as_user() { chroot "$root" setpriv --reuid 1000 --regid 1000 --clear-groups sh -c "cd /data; $1"; }
as_user "$COMMAND" > "$root/log" 2>&1 &
tries=0
until grep -q '^Ctrl-C stops it' "$root/log"; do
  tries=$((tries + 1))
  if [ $tries -gt 300 ]; then cat "$root/log"; exit 1; fi
  sleep 0.1
done
as_user "$HEALTH"
echo healthy
stat -c '%u %a' "$root/data" "$root/data/kubeconfig"
`

test('the lines of the image start a cluster without root that is healthy', { skip }, (t) => {
  const command = [...JSON.parse(value('ENTRYPOINT')), ...JSON.parse(value('CMD'))] as string[]
  const health = value('HEALTHCHECK').replace(/^.*? CMD /, '')
  const environment = value('ENV')
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['-m', '-n', '-p', '-f', '--kill-child', 'sh', '-c', script],
    {
      env: {
        ...process.env,
        FOLDER: temporaryFolder(t),
        REPOSITORY: repository,
        NODE: process.execPath,
        RUN: value('RUN'),
        COMMAND: `export ${environment}; exec ${command.join(' ')}`,
        HEALTH: `export ${environment}; ${health}`,
      },
      encoding: 'utf8',
      timeout: 90_000,
      killSignal: 'SIGKILL',
    },
  )
  assert.equal(status, 0, stdout + stderr)
  assert.equal(stdout, 'healthy\n1000 700\n1000 600\n', stderr)
})
