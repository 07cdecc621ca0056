/**
 * Checks that imports go down the layers only (the order below), and down the rooms of `apiserver/`; that every source
 * file is in a layer. Imports of types count. Prints each import that goes up with its file and line; exits with 1 if
 * there is any.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** From the top: a layer may import itself and those after it. */
export const layers = [
  'cli',
  'envtest',
  'cluster',
  'apiserver',
  'controllers',
  'scheduler',
  'kubelet',
  'runtime',
  'network',
  'simulation',
  'panics',
  'client',
  'kubeconfig',
  'api',
  'cel',
  'machinery',
  'storage',
  'lib',
] as const

/**
 * The rooms of `apiserver/` from the top: a room may import those after it. Tests may import any room. The floors are
 * described in docs/architecture.md.
 */
export const apiserverRooms = [
  // The server is put together.
  'server.ts',
  'components',
  'server-options.ts',
  'warm-up',
  'bootstrap',
  'serving-flags',
  // Features that the handlers below know nothing of.
  'crd',
  'services',
  'profiling',
  'discovery',
  'openapi',
  // A request is served.
  'chain',
  'endpoints',
  'flow-control',
  'non-resource',
  'admission',
  'aggregator',
  'encryption',
  'authentication',
  'authorization',
  'health',
  'proxy',
  'negotiation',
  'request',
  'outgoing',
  // Objects are read and written.
  'registry',
  'audit',
  'request-options',
  'apply',
  // Connections and plain values.
  'http',
  'certificates',
  'config-files',
  'feature-gates',
  'request-info',
  'version',
] as const

/** Something that breaks the rule, as `file:line: what`. */
export type Violation = string

/**
 * Specifiers of static imports, re-exports, dynamic imports and import types, with their lines. Comments do not count.
 */
export function importsOf(source: string): { readonly specifier: string; readonly line: number }[] {
  // Comments become spaces, so that positions stay; a string that looks like a comment may vanish, an import never
  // does.
  const code = source.replace(/^\s*(\/\/.*|\/\*[\s\S]*?\*\/)/gm, (comment) => comment.replace(/[^\n]/g, ' '))
  const found = code.matchAll(/\b(?:from|import)\s*\(?\s*(['"])(\.{1,2}\/[^'"\n]*)\1/g)
  return [...found].map((match) => ({ specifier: match[2] ?? '', line: code.slice(0, match.index).split('\n').length }))
}

/** What is wrong with one file of `src`; `file` is its path below `src`. */
export function checkFile(file: string, source: string): Violation[] {
  const at = (line: number, what: string): Violation => `src/${file}:${line}: ${what}`
  const own = layerOf(file)
  if (own < 0) return [at(1, `stands in no layer: files live in one of ${layers.join(', ')}`)]
  return importsOf(source).flatMap(({ specifier, line }) => {
    const target = relative('/src', resolve('/src', dirname(file), specifier))
    // package.json and other files beside src belong to no layer.
    if (target.startsWith('..')) return []
    const other = layerOf(target)
    if (other < 0) return [at(line, `imports ${specifier}, which stands in no layer`)]
    if (other < own)
      return [at(line, `${layers[own]} may not import ${layers[other]} (${specifier}): imports go down only`)]
    const up = other === own ? roomAbove(file, target) : undefined
    return up ? [at(line, `${up} (${specifier}): imports go down only`)] : []
  })
}

/** Names the rooms of an import that goes up inside `apiserver/`; undefined if there is none. */
function roomAbove(file: string, target: string): string | undefined {
  if (!file.startsWith('apiserver/') || file.endsWith('.test.ts')) return undefined
  const [own, other] = [file, target].map((path) => path.split('/')[1]!)
  const [ownPlace, otherPlace] = [own, other].map((room) => (apiserverRooms as readonly string[]).indexOf(room!))
  if (ownPlace! < 0) return `apiserver/${own} has no place in the order of rooms (scripts/check-layers.ts)`
  return otherPlace! < ownPlace! ? `apiserver/${own} may not import apiserver/${other}` : undefined
}

/** The layer's place in the order, -1 for a file outside of all. */
const layerOf = (file: string): number =>
  file.includes('/') ? layers.indexOf(file.split('/')[0] as (typeof layers)[number]) : -1

function main(): void {
  const root = join(import.meta.dirname, '../src')
  const violations = globSync('**/*.ts', { cwd: root })
    .sort()
    .flatMap((file) => checkFile(file, readFileSync(join(root, file), 'utf8')))
  for (const violation of violations) console.log(violation)
  if (violations.length > 0) process.exitCode = 1
}

if (import.meta.main) main()
