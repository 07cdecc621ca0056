/**
 * Builds what `./t8s` runs and what programs import: the schema (`.build/schema.json`) where it is out of date, then
 * `.build/t8s.js` and what the package exports with the chunks that they load on demand. Run it through
 * `scripts/build`, which sees to the packages and to builds at the same time.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { mergeChunks, type Program } from './merge-chunks.ts'

const root = dirname(import.meta.dirname)
const output = join(root, '.build')
const dayMs = 24 * 3600 * 1000

/**
 * Takes of Node's modules only what is named somewhere. An import reads every export of theirs, and many of those load
 * much when they are read: undici (node:http), workers (node:util), WebCrypto, streams of files, reports. At each
 * start, for nothing.
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
      // What nobody imports is left out: esbuild drops calls that it may take for pure.
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

/** commander goes without what it starts programs with: it has none to start. */
const withoutChildProcess: Plugin = {
  name: 'without-child-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ path, importer }) =>
      importer.includes('/node_modules/commander/') ? { path, namespace: 'without-child-process' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'without-child-process' }, () => ({ contents: 'export default {}' }))
  },
}

/** ssh2 goes without the parts of it that are compiled on the machine: it is as it is where they could not be. */
const withoutNative: Plugin = {
  name: 'without-native',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^cpu-features$|\/sshcrypto\.node$/ }, ({ path }) => ({ path, namespace: 'without-native' }))
    // These ask where they lie, and look for nothing there that is needed.
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

/** CommonJS packages in the bundle call `require` for Node's own modules. */
const banner =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

const commandLine = ['src/cli/t8s.ts', 'src/cli/main.ts']

/** What is loaded before each of these is ready, or at work. */
const programs: readonly Program[] = [
  // Servers, however they are started: what one of them alone needs is little.
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
/** What ends at once, or is small, and should not load the half of them. */
const others: readonly Program[] = [
  { sources: ['src/cli/t8s.ts'] },
  { sources: commandLine },
  { sources: ['src/apiserver/version/version.ts'] },
  { sources: [/\bexplain-panic\b/] },
  { sources: [/\boverview\b/, 'src/kubeconfig/files/locations.ts'] },
  { sources: [/^src\/cli\/commands\/config\//, /^src\/cli\/terminal\//, /^src\/kubeconfig\//] },
  { sources: ['src/cli/commands/envtest.ts', 'src/envtest/program.ts'] },
  { sources: [/snapshot/] },
  { sources: ['src/client/index.ts', /^src\/cli\/commands\/(?!up|apiserver)/, /^src\/cli\/(why|completion)\//] },
]

const started = new Date()
process.stderr.write('t8s: building\n')
mkdirSync(output, { recursive: true })
// Does nothing when the schema is up to date.
await import('./generate-schema.ts')
await buildBundle()

/**
 * Chunks carry a hash of their content in their names, so a server that runs from the old bundle still finds its own.
 */
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
    // Beside the entry, because code that looks for files looks in its own folder.
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // It has a part that is compiled for each platform.
    external: ['koffi'],
    plugins: [withoutChildProcess, withoutNative, namedExports],
    banner: { js: banner },
    write: false,
    metafile: true,
    logLevel: 'warning',
  })
  const files = await mergeChunks(
    { texts: new Map(outputFiles.map(({ path, text }) => [basename(path), text])), metafile, banner },
    programs,
    others,
  )
  // The entry comes last: until then everything it names is in place.
  for (const [name, text] of [...files].sort(([a], [b]) => Number(a === 't8s.js') - Number(b === 't8s.js'))) {
    const path = join(output, name)
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }
  // The entry names all chunks by their content, so its own content stands for all.
  writeFileSync(
    join(output, 'build-id.new'),
    `${createHash('sha256')
      .update(files.get('t8s.js') ?? '')
      .digest('hex')
      .slice(0, 16)}\n`,
  )
  renameSync(join(output, 'build-id.new'), join(output, 'build-id'))
  // A source that changed while this ran is newer than the bundle, as it should be.
  utimesSync(join(output, 't8s.js'), started, started)
  const kept = new Set(files.keys())
  for (const name of readdirSync(output)) {
    const old =
      /-[A-Z0-9]{8}\.js$/.test(name) && !kept.has(name) && modified(join(output, name)) < started.getTime() - dayMs
    if (old) rmSync(join(output, name), { force: true })
  }
}

/** When a file was written last, in ms since 1970; 0 if there is none. */
function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
