/**
 * Builds the files of `./t8s` and the package: the schema (`.build/schema.json`) and the messages of gRPC services
 * (`.build/protobuf/`) if they are out of date, then `.build/t8s.js` and the exports of the package with their chunks.
 * Run it through `scripts/build`, which installs packages and serialises concurrent builds.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { mergeChunks, type Program } from './merge-chunks.ts'
import { isTestCode } from './testing/test-code.ts'

const root = dirname(import.meta.dirname)
const output = join(root, '.build')
const dayMs = 24 * 3600 * 1000

/**
 * Imports only the used names of Node's modules. A full import reads every export, and many of them load further
 * modules: undici (node:http), workers (node:util), WebCrypto, file streams, reports. That would slow down each start.
 */
const namedExports: Plugin = {
  name: 'named-exports',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?[a-z0-9_/]+$/ }, ({ path, kind }) => {
      if (!isBuiltin(path)) return undefined
      return {
        path: path.replace('node:', ''),
        namespace: 'named-exports',
        suffix: kind === 'require-call' ? '?whole' : '',
        sideEffects: false,
      }
    })
    onLoad({ filter: /.*/, namespace: 'named-exports' }, ({ path, suffix }) => {
      const taken = `process.getBuiltinModule('node:${path}')`
      if (suffix) return { contents: `module.exports = ${taken}` }
      // Names without imports are dropped: esbuild removes unused pure calls.
      const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter((name) => name !== 'default')
      const exported = names.map((name) => `export const ${name} = /* @__PURE__ */ take('${name}')`)
      return {
        contents: [
          `const taken = ${taken}`,
          'const take = (name) => taken[name]',
          'export default taken',
          ...exported,
        ].join('\n'),
      }
    })
  },
}

/** Removes child_process from commander, which uses it only for external subcommands. */
const withoutChildProcess: Plugin = {
  name: 'without-child-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ path, importer }) =>
      importer.includes('/node_modules/commander/') ? { path, namespace: 'without-child-process' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'without-child-process' }, () => ({ contents: 'export default {}' }))
  },
}

/** Removes the native parts of ssh2, which are optional. */
const withoutNative: Plugin = {
  name: 'without-native',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^cpu-features$|\/sshcrypto\.node$/ }, ({ path }) => ({ path, namespace: 'without-native' }))
    // These use their own path only to find optional files.
    onLoad({ filter: /\/ssh2\/lib\/(agent|protocol\/crypto\/poly1305)\.js$/ }, ({ path }) => ({
      contents: `const __dirname = '/'\n${readFileSync(path, 'utf8')}`,
      loader: 'js',
    }))
    onLoad({ filter: /.*/, namespace: 'without-native' }, () => ({
      contents: "throw new Error('not in the bundle')",
      loader: 'js',
    }))
  },
}

/** CommonJS packages in the bundle call `require` for Node's modules. */
const banner =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

const commandLine = ['src/cli/t8s.ts', 'src/cli/main.ts']

/** The sources that each program loads before it is ready or while it runs. */
const programs: readonly Program[] = [
  // Servers, however they are started: they share nearly everything.
  {
    sources: [
      'src/cli/commands/up.ts',
      'src/cluster/start-cluster.ts',
      'src/cluster/credentials/identity-files.ts',
      'src/cluster/credentials/front-proxy-files.ts',
      'src/cluster/data-directory.ts',
      'src/kubeconfig/write.ts',
      'src/storage/log/index.ts',
      'src/cluster/serve-store.ts',
      'src/cluster/controllers/thread.ts',
      'src/cluster/threads/component-thread.ts',
      'src/cli/commands/apiserver.ts',
      'src/apiserver/serving-flags/index.ts',
      'src/cluster/standalone-api-server/index.ts',
      'src/cluster/index.ts',
    ],
  },
  { sources: ['src/cluster/controllers/worker.ts', /^src\/controllers\/(?!.*\/why\/)/] },
  { sources: ['src/cluster/scheduler/worker.ts'] },
  { sources: ['src/cluster/simulation/worker.ts'] },
]
/** Short-lived or small programs, which should not load the servers' chunks. */
const others: readonly Program[] = [
  { sources: ['src/cli/t8s.ts'] },
  { sources: commandLine },
  { sources: ['src/apiserver/version/version.ts'] },
  { sources: [/\bexplain-panic\b/] },
  { sources: [/\boverview\b/, 'src/tools/config/files/locations.ts'] },
  { sources: [/^src\/cli\/commands\/config\//, /^src\/cli\/terminal\//, /^src\/kubeconfig\//] },
  { sources: ['src/cli/commands/envtest.ts', 'src/tools/envtest/program.ts'] },
  { sources: [/snapshot/] },
  { sources: ['src/client/index.ts', /^src\/cli\/commands\/(?!up|apiserver)/, /^src\/cli\/(why|completion)\//] },
]

const started = new Date()
process.stderr.write('t8s: building\n')
mkdirSync(output, { recursive: true })
// They do nothing if their output is up to date.
await import('./generate-schema.ts')
await import('./generate-protobuf.ts')
await buildBundle()

/** Chunk names contain a hash of the content, so a server that runs from the old bundle still finds its own. */
async function buildBundle(): Promise<void> {
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
  const files = await mergeChunks(
    { texts: new Map(outputFiles.map(({ path, text }) => [basename(path), text])), metafile, banner },
    programs,
    others,
  )
  // The entry is written last, when everything it imports is in place.
  for (const [name, text] of [...files].sort(([a], [b]) => Number(a === 't8s.js') - Number(b === 't8s.js'))) {
    const path = join(output, name)
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }
  // The entry names all chunks by content, so its own hash covers all.
  writeFileSync(
    join(output, 'build-id.new'),
    `${createHash('sha256')
      .update(files.get('t8s.js') ?? '')
      .digest('hex')
      .slice(0, 16)}\n`,
  )
  renameSync(join(output, 'build-id.new'), join(output, 'build-id'))
  // A source that changes during the build is newer than the bundle, so it will be rebuilt.
  utimesSync(join(output, 't8s.js'), started, started)
  const current = new Set(files.keys())
  for (const name of readdirSync(output)) {
    const old =
      /-[A-Z0-9]{8}\.js$/.test(name) && !current.has(name) && modified(join(output, name)) < started.getTime() - dayMs
    if (old) rmSync(join(output, name), { force: true })
  }
}

/** Returns the modification time of a file in ms since 1970; 0 if it does not exist. */
function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
