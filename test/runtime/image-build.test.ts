/** `t8s image build` without a network: commands run, other programs read the image, and a pod runs it. Needs root. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { writeFiles } from '../kubelet/support/oci-image.ts'
import { waitFor } from '../support/wait-for.ts'
import { TestRuntime } from './support/test-runtime.ts'

await inNamespaces(import.meta.filename, () => {
  test('a pod runs an image of several stages, and other programs read it', buildAndRun)
  test('changes of commands become layers that equal the container', changesOfCommands)
  test('a command that fails shows its output, and an interrupted build leaves nothing', failures)
})

const run = promisify(execFile)
const launcher = join(import.meta.dirname, '../../t8s')

const dockerfile = `
ARG BASE=base:1
FROM $BASE AS builder
ARG VERSION=dev
WORKDIR /src
COPY . .
RUN mkdir out && echo "version $VERSION of $(cat name)" >out/text && ln out/text out/same

FROM base:1 AS unused
RUN exit 1

FROM $BASE
COPY --from=builder --chown=app:app /src/out/ /app/
COPY --chmod=755 hello.sh /bin/hello
ENV GREETING=hello
USER app
ENTRYPOINT ["/bin/hello"]
CMD ["nobody"]
`

const context = {
  Dockerfile: dockerfile,
  '.dockerignore': 'secret',
  secret: 'secret',
  name: 'app',
  'hello.sh': '#!/bin/sh\necho "$GREETING $1"; cat /app/text; id -un\n',
}

/** A root file system of busybox, the store of a runtime, and the command on it. */
function setUp(t: TestContext, store?: string) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-build-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = (name: string): string => join(folder, name)
  for (const name of ['bin', 'etc', 'tmp', 'var']) mkdirSync(join(path('root'), name), { recursive: true })
  chmodSync(join(path('root'), 'tmp'), 0o1777)
  cpSync('/bin/busybox', path('root/bin/busybox'))
  for (const applet of ['sh', 'cat', 'mkdir', 'ln', 'id', 'rm', 'mv', 'chmod', 'sleep', 'touch', 'mknod', 'env', 'pwd'])
    linkSync(path('root/bin/busybox'), path(`root/bin/${applet}`))
  writeFiles(path('root'), {
    'etc/passwd': 'root:x:0:0::/root:/bin/sh\napp:x:1000:1000::/:/bin/sh\n',
    'etc/group': 'root:x:0:\napp:x:1000:\n',
  })
  writeFiles(path('context'), context)
  const images = store ?? path('store')
  const image = async (...args: readonly string[]): Promise<string> => {
    const env = { PATH: process.env.PATH, HOME: folder, T8S_IMAGE_ROOT: images }
    const { stdout, stderr } = await run(launcher, ['image', ...args], { env })
    return stderr + stdout
  }
  const base = () => image('build', '--rootfs', path('root'), '-t', 'base:1', '--env', 'PATH=/bin', '--cmd', 'sh')
  return { path, image, images, base }
}

async function buildAndRun(t: TestContext): Promise<void> {
  const runtime = await TestRuntime.start()
  const { path, image, base } = setUp(t, join(runtime.folder, 'images'))
  await base()
  const args = ['build', '-t', 'app:1', '--build-arg', 'VERSION=2', path('context')]
  const output = await image(...args)
  assert.match(output, /^\[5\/12\] RUN mkdir out && echo "version \$VERSION of \$\(cat name\)"/m)
  assert.match(output, /^built docker\.io\/library\/app:1 \([0-9a-f]{12}\), [\d.]+ MB, in [\d.]+ s$/m)
  const again = await image(...args)
  assert.match(again, /^\[5\/12\] RUN .* \(cached\)\n\[6\/12\] FROM \$BASE\n\[7\/12\] COPY .* \(cached\)$/m)
  assert.equal(idIn(again), idIn(output))

  const sandbox = await runtime.sandbox()
  const config = { metadata: { name: 'app' }, image: { image: 'app:1' }, args: ['pod'], logPath: 'app.log' }
  const id = await runtime.client.createContainer(sandbox.id, config, sandbox.config)
  await runtime.client.startContainer(id)
  await runtime.ended(id)
  assert.deepEqual(await runtime.logOf(id), ['stdout F hello pod', 'stdout F version 2 of app', 'stdout F app'])

  await image('export', 'app:1', '-o', path('app.tar'))
  await run('skopeo', ['copy', `oci-archive:${path('app.tar')}`, `oci:${path('layout')}:app`])
  const inspected = JSON.parse((await run('skopeo', ['inspect', '--config', `oci:${path('layout')}:app`])).stdout)
  assert.deepEqual(inspected.config.Entrypoint, ['/bin/hello'])
  assert.equal(inspected.history.length, 7)
  execFileSync('umoci', ['raw', 'unpack', '--image', `${path('layout')}:app`, path('umoci')], { stdio: 'ignore' })
  const files = execFileSync('find', ['app', 'bin/hello', '-printf', '%p %y %m %U %n\n'], {
    cwd: path('umoci'),
    encoding: 'utf8',
  }).split('\n')
  assert.ok(!existsSync(path('umoci/src')))
  assert.ok(files.includes('bin/hello f 755 0 1'), files.join('\n'))
  assert.ok(files.includes('app/text f 644 1000 1'), files.join('\n'))
}

const idIn = (output: string): string | undefined => /^built .*\(([0-9a-f]{12})\)/m.exec(output)?.[1]

const changes = `
FROM base:1
RUN mkdir -p /data/old /data/kept && touch /data/old/a /data/kept/b /data/gone && ln -s kept /data/link
ENV NAME=value
SHELL ["/bin/sh", "-ec"]
RUN <<EOF
rm -r /data/old /data/gone /bin/touch
mkdir /data/old
cat >/data/old/new <<END
$NAME $(pwd) $(id -u) $HOME
END
chmod 4711 /data/old/new
ln /data/old/new /data/same
EOF
RUN ["/bin/mv", "/data/kept", "/data/moved"]
USER app
WORKDIR /tmp
RUN id -un >user && env >variables
`

/** The layers are applied by another program, and compared with what the commands had left. */
async function changesOfCommands(t: TestContext): Promise<void> {
  const { path, image, images, base } = setUp(t)
  await base()
  writeFiles(path('context'), { Dockerfile: changes })
  await image('build', '-t', 'changed:1', path('context'))
  await image('export', 'changed:1', '-o', path('changed.tar'))
  await run('skopeo', ['copy', `oci-archive:${path('changed.tar')}`, `oci:${path('layout')}:app`])
  execFileSync('umoci', ['raw', 'unpack', '--image', `${path('layout')}:app`, path('umoci')], { stdio: 'ignore' })
  const list = execFileSync('find', ['.', '-path', './bin/*', '-prune', '-o', '-printf', '%P %y %m %U %n %l\n'], {
    cwd: path('umoci'),
    encoding: 'utf8',
  })
  const lines = list.split('\n').map((line) => line.replace(/^(.* d \d+ \d+) \d+/, '$1').trim())
  assert.deepEqual(lines.filter((line) => / . /.test(line)).sort(), [
    'bin d 755 0',
    'data d 755 0',
    'data/link l 777 0 1 kept',
    'data/moved d 755 0',
    'data/moved/b f 644 0 1',
    'data/old d 755 0',
    'data/old/new f 4711 0 2',
    'data/same f 4711 0 2',
    'etc d 755 0',
    'etc/group f 644 0 1',
    'etc/passwd f 644 0 1',
    'tmp d 1777 0',
    'tmp/user f 644 1000 1',
    'tmp/variables f 644 1000 1',
    'var d 755 0',
  ])
  assert.equal(readFileSync(path('umoci/data/old/new'), 'utf8'), 'value / 0 /root\n')
  assert.equal(readFileSync(path('umoci/tmp/user'), 'utf8'), 'app\n')
  assert.match(readFileSync(path('umoci/tmp/variables'), 'utf8'), /^NAME=value$/m)
  assert.ok(!readdirSync(path('umoci/bin')).includes('touch'))
  isClean(images)
}

async function failures(t: TestContext): Promise<void> {
  const { path, image, images, base } = setUp(t)
  await base()
  writeFiles(path('context'), { Dockerfile: 'FROM base:1\nRUN echo "what went wrong"; exit 3\n' })
  await assert.rejects(
    image('build', path('context')),
    /what went wrong\nt8s: .*Dockerfile:2: the command has ended with exit code 3/,
  )
  writeFiles(path('context'), { Dockerfile: 'FROM base:1\nRUN ["/bin/missing"]\n' })
  await assert.rejects(image('build', path('context')), /Dockerfile:2: .*\/bin\/missing/)
  writeFiles(path('context'), { Dockerfile: 'FROM base:1\nRUN sleep 86399\n' })
  const building = execFile(launcher, ['image', 'build', path('context')], {
    env: { PATH: process.env.PATH, HOME: path('home'), T8S_IMAGE_ROOT: images },
  })
  const ended = once(building, 'close')
  await waitFor('the command runs', async () => (await sleeping()) !== '')
  building.kill('SIGINT')
  assert.deepEqual(await ended, [1, null])
  assert.equal(await sleeping(), '')
  isClean(images)
}

/** The processes of the command. */
const sleeping = async (): Promise<string> =>
  (await run('sh', ['-c', 'grep -lz "^86399$" /proc/[0-9]*/cmdline || true'])).stdout

function isClean(images: string): void {
  for (const name of ['unfinished', 'snapshots', 'leases']) assert.deepEqual(readdirSync(join(images, name)), [], name)
}
