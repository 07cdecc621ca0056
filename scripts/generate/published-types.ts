/**
 * Build step of the package: writes its declaration files to `.build/types`. They contain only declarations that its
 * exports need, among them those of `@kubernetes/client-node`, so that the package depends on no other, not even on the
 * types of Node: a Buffer is published as the Uint8Array that it is.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { type Module, readModule } from '../declarations/module-graph.ts'
import { prune } from '../declarations/prune.ts'

const root = join(import.meta.dirname, '../..')
const output = join(root, '.build/types')
const client = join(root, 'node_modules/@kubernetes/client-node/dist')
const emitted = mkdtempSync(join(root, '.build/declarations-'))

try {
  const options = ['-p', join(root, 'tsconfig.types.json'), '--outDir', emitted]
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options], { stdio: 'inherit' })
  const entries = Object.values(packageJson.exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [resolve(root, entry.types).replace(output, emitted)],
  )
  const modules = new Map<string, Module>()
  const read = (file: string): Module => {
    const module = modules.get(file) ?? readModule(file, file.startsWith(client) ? fieldsOnly : withoutBuffers)
    modules.set(file, module)
    return module
  }
  const texts = prune({ read, resolve: resolveDeclaration, place }, entries)
  rmSync(output, { recursive: true, force: true })
  for (const [name, text] of texts) {
    const target = join(output, name)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, libraryOf(text) + text)
  }
} finally {
  rmSync(emitted, { recursive: true, force: true })
}

/** Undefined for modules of Node and of packages that remain dependencies. */
function resolveDeclaration(from: string, source: string): string | undefined {
  if (source === '@kubernetes/client-node') return join(client, 'index.d.ts')
  if (!source.startsWith('.')) return undefined
  const file = join(dirname(from), source.replace(/\.[jt]s$/, '.d.ts'))
  if (!existsSync(file)) throw new Error(`${from} imports ${source}, which has no declarations`)
  return file
}

/** Returns a reference to TypeScript's library for `await using`, which projects without it lack. */
function libraryOf(text: string): string {
  return /\bAsyncDisposable\b|\basyncDispose\b/.test(text) ? '/// <reference lib="esnext.disposable" />\n' : ''
}

/** Returns the name of a file in the result. */
function place(file: string): string {
  return file.startsWith(client) ? join('kubernetes', relative(client, file)) : relative(emitted, file)
}

function withoutBuffers(text: string): string {
  return text.replace(/(?<=[:<|(] ?)Buffer\b/g, 'Uint8Array')
}

/** Removes the static members and constructors of the client's models: only their fields describe objects. */
function fieldsOnly(text: string): string {
  return text.replace(/^ {4}(?:static|constructor)\b[\s\S]*?\n(?= {4}(?:static|constructor|\/\*\*|')|\})/gm, '')
}
