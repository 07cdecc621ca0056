/**
 * Builds the files of `./t8s` and the package: the schema (`.build/schema.json`) and the messages of gRPC services
 * (`.build/protobuf/`) if they are out of date, then `.build/t8s.js` and the exports of the package with their chunks.
 * Run it through `scripts/build`, which installs packages and serialises concurrent builds.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { build } from 'esbuild'
import { isTestCode } from '../testing/test-code.ts'
import type { Program } from './chunk-graph.ts'
import { mergeChunks } from './merge-chunks.ts'
import { noticesOf, packagesOf } from './notices.ts'
import { type BuildRecord, retainedBuilds } from './old-builds.ts'
import { packageEntries, packList } from './package-files.ts'
import { namedExports, unlimitedSignals, withoutChildProcess, withoutNative } from './plugins.ts'
import { programStarts } from './running-programs.ts'
import { tracePage } from './trace-page.ts'

const root = join(import.meta.dirname, '../..')
const output = join(root, '.build')
const dayMs = 24 * 3600 * 1000
/** The last builds, with their files. */
const recordFile = join(output, 'builds.json')
/** The exports of the package, named like their files. */
const exported = {
  index: 'src/cluster/index.ts',
  client: 'src/client/index.ts',
  testing: 'src/cluster/testing/index.ts',
  test: 'src/cluster/testkit/index.ts',
  scheduler: 'src/scheduler/index.ts',
}

/** CommonJS packages in the bundle call `require` for Node's modules. */
const banner =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

const commandLine = ['src/cli/t8s.ts', 'src/cli/main.ts']

/** The sources that each program loads before it is ready or while it runs. */
const programs: readonly Program[] = [
  // It starts the thread of a real node before it loads the server.
  { sources: ['src/cli/commands/serving/up.ts', 'src/cluster/real-node/checks/decision.ts'] },
  // Servers, however they are started: they share nearly everything.
  {
    sources: [
      'src/cluster/run-cluster.ts',
      'src/cluster/hosting/host-worker.ts',
      'src/cluster/credentials/identity-files.ts',
      'src/cluster/credentials/front-proxy-files.ts',
      'src/cluster/data-directory.ts',
      'src/cli/commands/serving/cluster-access.ts',
      'src/storage/log/index.ts',
      'src/cluster/serve-store.ts',
      'src/cluster/controllers/thread.ts',
      'src/cluster/threads/component-thread.ts',
      'src/cli/commands/serving/components/apiserver.ts',
      'src/apiserver/serving-flags/index.ts',
      'src/cluster/standalone-api-server/index.ts',
    ],
  },
  {
    sources: [
      'src/cluster/controllers/worker.ts',
      'src/cluster/controllers/controllers-thread.ts',
      /^src\/controllers\/(?!.*\/why\/)/,
    ],
  },
  { sources: ['src/cluster/scheduler/worker.ts', 'src/cluster/scheduler/scheduler-thread.ts'] },
  { sources: ['src/cluster/simulation/worker.ts'] },
  { sources: ['src/cluster/ingress/worker.ts'] },
  {
    sources: [
      'src/cluster/kubelet/standalone-kubelet.ts',
      'src/cluster/proxy/standalone-proxy.ts',
      'src/cluster/kubelet/command-line.ts',
      'src/cluster/real-node/thread/worker.ts',
    ],
  },
  // The serving thread loads it, but not the kubelet.
  { sources: ['src/cluster/real-node/checks/requirements.ts', 'src/cluster/real-node/index.ts'] },
]
/** Short-lived or small programs, which should not load the servers' chunks. */
const others: readonly Program[] = [
  { sources: ['src/cli/t8s.ts'] },
  // The server is loaded on another thread.
  { sources: ['src/cluster/index.ts'] },
  { sources: commandLine },
  { sources: ['src/apiserver/version/version.ts'] },
  { sources: [/\bexplain-panic\b/] },
  { sources: [/\boverview\b/, 'src/tools/config/files/locations.ts'] },
  { sources: [/^src\/cli\/commands\/config\//, /^src\/cli\/terminal\//, /^src\/kubeconfig\//, /\/ansis\//] },
  { sources: ['src/cli/commands/serving/envtest.ts', 'src/tools/envtest/program.ts'] },
  { sources: [/snapshot/] },
  {
    sources: [
      'src/client/index.ts',
      /^src\/cli\/commands\/(?!serving\/(up|apiserver|cluster-access))/,
      /^src\/cli\/(why|completion)\//,
    ],
  },
]

const started = new Date()
process.stderr.write('t8s: building\n')
mkdirSync(output, { recursive: true })
// They do nothing if their output is up to date.
await import('../generate/schema.ts')
await import('../generate/protobuf.ts')
const files = await bundle()
files.set('launcher.sh', readFileSync(join(root, 'src/tools/envtest/launcher.sh'), 'utf8'))
files.set('trace-page.html', await tracePage(root))
for (const [name, text] of await packageEntries(root, Object.keys(exported))) files.set(name, text)
files.set('.npmignore', packList(packed()))
writeFiles()
removeOldChunks()

/**
 * Returns the files of the bundle by name. Chunk names contain a hash of the content, so a server that runs from the
 * old bundle still finds its own.
 */
async function bundle(): Promise<Map<string, string>> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      t8s: 'src/cli/t8s.ts',
      ...exported,
      'cluster-worker': 'src/cluster/hosting/host-worker.ts',
      'scheduler-worker': 'src/cluster/scheduler/worker.ts',
      'controllers-worker': 'src/cluster/controllers/worker.ts',
      'simulation-worker': 'src/cluster/simulation/worker.ts',
      'ingress-worker': 'src/cluster/ingress/worker.ts',
      'real-node-worker': 'src/cluster/real-node/thread/worker.ts',
      'machine-process': 'src/cluster/machines/process/main.ts',
      'unpack-worker': 'src/runtime/images/layers/unpack-worker.ts',
      'network-worker': 'src/runtime/network/bridge/network-worker.ts',
      'forwarding-worker': 'src/network/forwarder/thread/forwarding-worker.ts',
      'flannel-udp-worker': 'src/network/flannel/backends/udp/thread/carrier-worker.ts',
    },
    outdir: '.build',
    // Next to the entry, because code that reads files looks in its own folder.
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    // Node 18 must be able to read the code, and to say that it is too old to run it.
    target: 'node18',
    plugins: [unlimitedSignals, withoutChildProcess, withoutNative, namedExports],
    banner: { js: banner },
    write: false,
    metafile: true,
    logLevel: 'warning',
  })
  const tests = Object.keys(metafile.inputs).filter(isTestCode)
  if (tests.length > 0) throw new Error(`the bundle contains test code: ${tests.join(', ')}`)
  const used = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs))
  // The schema and the types come from the client's models.
  const packages = packagesOf([...used, 'node_modules/@kubernetes/client-node/package.json'])
  const merged = await mergeChunks(
    { texts: new Map(outputFiles.map(({ path, text }) => [basename(path), text])), metafile, banner },
    programs,
    others,
  )
  return merged.set('THIRD-PARTY-NOTICES.txt', noticesOf(root, packages))
}

/** The files and folders that npm packs. */
function packed(): string[] {
  const names = [...files.keys(), 'schema.json', 'descriptions.json', 'protobuf.json', 'build-id', 'types']
  return [...new Set(names.map((name) => name.split('/')[0]!))]
}

function writeFiles(): void {
  // The entry is written last, when everything it imports is in place.
  for (const [name, text] of [...files].sort(([a], [b]) => Number(a === 't8s.js') - Number(b === 't8s.js')))
    replaceFile(name, text)
  // The entry names all chunks by content, so its own hash covers all.
  const hash = createHash('sha256').update(files.get('t8s.js') ?? '')
  replaceFile('build-id', `${hash.digest('hex').slice(0, 16)}\n`)
  // A source that changes during the build is newer than the bundle, so it will be rebuilt.
  utimesSync(join(output, 't8s.js'), started, started)
}

function replaceFile(name: string, text: string): void {
  const path = join(output, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

/** Programs that run from an older build still load its chunks. */
function removeOldChunks(): void {
  const names = [...files.keys()].filter(isChunk)
  const records = readRecords()
  if (records.at(-1)?.files.join() !== names.join()) records.push({ time: Date.now(), files: names })
  const retained = retainedBuilds(records, programStarts(output), Date.now())
  const [known, needed] = [records, retained].map((builds) => new Set(builds.flatMap((build) => build.files)))
  for (const name of readdirSync(output).filter(isChunk)) {
    // Chunks without a record are those of builds before there were any.
    const isOld = known!.has(name) || modified(join(output, name)) < started.getTime() - dayMs
    if (isOld && !needed!.has(name)) rmSync(join(output, name), { force: true })
  }
  replaceFile(basename(recordFile), JSON.stringify(retained))
}

/** Empty before the first build, and if an interrupted system has left a part of the file. */
function readRecords(): BuildRecord[] {
  try {
    return JSON.parse(readFileSync(recordFile, 'utf8')) as BuildRecord[]
  } catch {
    return []
  }
}

function isChunk(name: string): boolean {
  return /-[A-Z0-9]{8}\.js$/.test(name)
}

/** Returns the modification time of a file in ms since 1970; 0 if it does not exist. */
function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
