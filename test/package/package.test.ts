/** The package in an empty project: its content, and how it runs on the oldest and the newest Node. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, type TestContext, test } from 'node:test'
import { kubernetesVersion, release } from '../../src/lib/release.ts'
import { temporaryFolder } from '../up/t8s-process.ts'
import { install, installed, installNodes, type Nodes, pack, repository, run } from './installed.ts'

const importing = `import { startCluster } from 'typernetes'
import { connectTo, namespaces } from 'typernetes/client'
import { startTestCluster } from 'typernetes/test'
import { fakeClient } from 'typernetes/testing'
import * as scheduler from 'typernetes/scheduler'
const cluster = await startCluster()
const client = await connectTo({ access: cluster.client })
const { items } = await client.list(namespaces)
client.close()
await cluster.stop()
const fake = await fakeClient()
await fake.list(namespaces)
await fake.close()
console.log(process.versions.node, items.map(({ metadata }) => metadata.name).join(), typeof startTestCluster)
`
const requiring = `const { startCluster } = require('typernetes')
for (const name of ['client', 'scheduler', 'test', 'testing']) require('typernetes/' + name)
startCluster({ nodes: 0 }).then(async (cluster) => {
  await cluster.stop()
  console.log(cluster.url)
})
`
const typed = `import { type Cluster, startCluster } from 'typernetes'
import { connectTo, pods } from 'typernetes/client'
import * as testkit from 'typernetes/test'
import { type FakeClient, fakeClient } from 'typernetes/testing'
import * as scheduler from 'typernetes/scheduler'
const cluster: Cluster = await startCluster({ nodes: 1 })
const { items } = await (await connectTo({ access: cluster.client })).list(pods, { namespace: 'default' })
export const image: string | undefined = items[0]?.spec?.containers[0]?.image
export const fake: FakeClient = await fakeClient()
export { scheduler, testkit }
// @ts-expect-error: a phase is text
export const phase: number | undefined = items[0]?.status?.phase
`
const typedRequire = `import typernetes = require('typernetes')
export const started: Promise<typernetes.Cluster> = typernetes.startCluster()
`
const maxBytes = 30 * 1024 * 1024

/** The records of the last builds (scripts/bundle/build.ts). */
function chunksOfLastBuild(): readonly string[] {
  const builds = JSON.parse(readFileSync(join(repository, '.build/builds.json'), 'utf8')) as readonly {
    readonly files: readonly string[]
  }[]
  return builds.at(-1)?.files ?? []
}

/** Runs `npx typernetes up` until it is ready, and stops it; returns its output. */
async function upByNpx(t: TestContext, bin: string, cwd: string): Promise<string> {
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, npm_config_update_notifier: 'false' }
  const args = ['--no', 'typernetes', 'up', '--nodes=0', '--secure-port=0']
  // A group of its own: npx starts a shell, which starts the program.
  const child = spawn('npx', args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const end = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  }
  const deadline = setTimeout(() => end('SIGKILL'), 60_000)
  t.after(() => clearTimeout(deadline))
  child.stdout.on('data', (chunk: Buffer) => {
    if (chunk.includes('Ctrl-C stops it')) end('SIGTERM')
  })
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  return output + errors
}

const skip = process.platform !== 'linux' && 'the versions of Node are installed from packages for Linux'

describe('the package', { skip }, () => {
  const cleanups: (() => void)[] = []
  let nodes: Nodes
  let files: readonly string[]
  let project: string

  before(async () => {
    const folder = temporaryFolder({ after: (cleanup) => void cleanups.push(cleanup) })
    project = join(folder, 'project')
    const [found, packed] = await Promise.all([installNodes(join(folder, 'nodes')), pack(join(folder, 'packed'))])
    nodes = found
    files = packed.files
    const { code, stderr } = await install(nodes.oldest, project, packed.tarball)
    assert.equal(code, 0, stderr)
    for (const [name, text] of Object.entries({ 'import.js': importing, 'require.cjs': requiring }))
      writeFileSync(join(project, name), text)
  })
  after(() => {
    for (const cleanup of cleanups) cleanup()
  })

  test('contains the chunks of the last build alone, and the licences of packages in them', () => {
    const isChunk = (name: string): boolean => /^\.build\/[^/]*-[A-Z0-9]{8}\.js$/.test(name)
    const chunks = chunksOfLastBuild().map((name) => `.build/${name}`)
    assert.deepEqual(files.filter(isChunk).sort(), [...chunks].sort())
    for (const name of [
      'LICENSE',
      'CHANGELOG.md',
      'README.md',
      '.build/THIRD-PARTY-NOTICES.txt',
      'package.json',
      't8s',
    ])
      assert.ok(files.includes(name), name)
    const others = files.filter((name) => /\.(map|ts|proto)$|compile-cache/.test(name) && !name.endsWith('.d.ts'))
    assert.deepEqual(others, [])
  })

  test('installs at most 30 MB, no Node, and no package with a script', () => {
    const { packages, bytes } = installed(project)
    assert.deepEqual(
      packages.map(({ name }) => name),
      [`@koromix/koffi-linux-${process.arch}`, 'typernetes'],
    )
    assert.ok(bytes < maxBytes, `${bytes} bytes`)
    const scripts = packages.flatMap((one) => Object.keys(one.scripts ?? {}))
    assert.deepEqual(
      scripts.filter((name) => /^(pre|post)?install$|^prepare$/.test(name)),
      [],
    )
    assert.deepEqual(readdirSync(join(project, 'node_modules/.bin')).sort(), ['t8s', 'typernetes'])
  })

  for (const which of ['oldest', 'newest'] as const)
    test(`runs on the ${which} supported Node, by import, require and npx`, async (t) => {
      const bin = nodes[which]
      const version = execFileSync(join(bin, 'node'), ['--version'], { encoding: 'utf8' }).trim()
      const imported = await run(bin, project, 'node', 'import.js')
      const names = 'default,kube-node-lease,kube-public,kube-system'
      assert.deepEqual(imported, { code: 0, stdout: `${version.slice(1)} ${names} function\n`, stderr: '' })
      const required = await run(bin, project, 'node', '--no-warnings', 'require.cjs')
      assert.match(required.stdout, /^https:\/\/127\.0\.0\.1:\d+\n$/, required.stderr)
      const { stdout } = await run(bin, project, join(project, 'node_modules/.bin/t8s'), 'version')
      assert.equal(stdout, `t8s ${release}\nKubernetes ${kubernetesVersion(release)}\nNode ${version}\n`)
      const output = await upByNpx(t, bin, project)
      assert.match(output, /^ready in \d+ ms$/m)
      assert.doesNotMatch(output, /unrecognized|Warning|rror/)
    })

  test('says in one sentence that an older Node is too old', async () => {
    const sentence = (program: string): RegExp =>
      new RegExp(`${program} needs Node 22\\.12\\.0 or newer, but this is Node 20\\.0\\.0: install a newer one`)
    for (const file of ['import.js', 'require.cjs']) {
      const { code, stderr } = await run(nodes.tooOld, project, 'node', file)
      assert.equal(code, 1)
      assert.match(stderr, sentence('Error: typernetes'))
      assert.doesNotMatch(stderr, /SyntaxError|ERR_REQUIRE_ESM/)
    }
    const { code, stderr } = await run(nodes.tooOld, project, join(project, 'node_modules/.bin/typernetes'), 'up')
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`^${sentence('t8s').source}.*\\n$`))
  })

  test('has declarations for strict projects without those of Node, which are checked too', async () => {
    writeFileSync(join(project, 'typed.ts'), typed)
    writeFileSync(join(project, 'typed.cts'), typedRequire)
    const compiler = join(repository, 'node_modules/.bin/tsc')
    const strict = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false']
    const target = ['--noEmit', '--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,dom', '--types', '']
    const { code, stdout } = await run(nodes.newest, project, compiler, ...strict, ...target, 'typed.ts', 'typed.cts')
    assert.deepEqual({ code, stdout }, { code: 0, stdout: '' })
  })
})
