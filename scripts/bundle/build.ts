/**
 * Builds the files of `./t8s` and the package: the schema (`.build/schema.json`) and the messages of gRPC services
 * (`.build/protobuf/`) if they are out of date, then `.build/t8s.js` and the exports of the package with their chunks.
 * Run it through `scripts/build`, which installs packages and serialises concurrent builds.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { isTestCode } from '../testing/test-code.ts'
import type { Program } from './chunk-graph.ts'
import { mergeChunks } from './merge-chunks.ts'
import { namedExports, withoutChildProcess, withoutNative } from './plugins.ts'

const root = join(import.meta.dirname, '../..')
const output = join(root, '.build')
const dayMs = 24 * 3600 * 1000

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
      'src/cluster/start-cluster.ts',
      'src/cluster/credentials/identity-files.ts',
      'src/cluster/credentials/front-proxy-files.ts',
      'src/cluster/data-directory.ts',
      'src/cli/commands/serving/cluster-access.ts',
      'src/storage/log/index.ts',
      'src/cluster/serve-store.ts',
      'src/cluster/controllers/thread.ts',
      'src/cluster/threads/component-thread.ts',
      'src/cli/commands/serving/apiserver.ts',
      'src/apiserver/serving-flags/index.ts',
      'src/cluster/standalone-api-server/index.ts',
      'src/cluster/index.ts',
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
  { sources: ['src/cluster/real-node/checks/requirements.ts'] },
]
/** Short-lived or small programs, which should not load the servers' chunks. */
const others: readonly Program[] = [
  { sources: ['src/cli/t8s.ts'] },
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
      index: 'src/cluster/index.ts',
      client: 'src/client/index.ts',
      testing: 'src/cluster/testing/index.ts',
      scheduler: 'src/scheduler/index.ts',
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
    target: 'node24',
    // It has a native part for each platform.
    external: ['koffi'],
    plugins: [withoutChildProcess, withoutNative, namedExports],
    banner: { js: banner },
    write: false,
    metafile: true,
    logLevel: 'warning',
  })
  const tests = Object.keys(metafile.inputs).filter(isTestCode)
  if (tests.length > 0) throw new Error(`the bundle contains test code: ${tests.join(', ')}`)
  return mergeChunks(
    { texts: new Map(outputFiles.map(({ path, text }) => [basename(path), text])), metafile, banner },
    programs,
    others,
  )
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
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

/** Servers may still run from chunks of the last day. */
function removeOldChunks(): void {
  for (const name of readdirSync(output)) {
    const isOld = modified(join(output, name)) < started.getTime() - dayMs
    if (isOld && /-[A-Z0-9]{8}\.js$/.test(name) && !files.has(name)) rmSync(join(output, name), { force: true })
  }
}

/** Returns the modification time of a file in ms since 1970; 0 if it does not exist. */
function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
