/**
 * Checks that imports only go down the layers (the order below) and the folders of `apiserver/`, that only tests import
 * tests and fixtures, and that every source file is in a layer. Includes imports of types. Prints each violation with
 * file and line; exits with 1 if there are any.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { isTestCode } from '../testing/test-code.ts'

/** From the top: a layer may import itself and those after it. */
export const layers = [
  'cli',
  'tools',
  'cluster',
  'apiserver',
  'controllers',
  'scheduler',
  'kubelet',
  'runtime',
  'network',
  'simulation',
  'node',
  'client',
  'kubeconfig',
  'api',
  'cel',
  'machinery',
  'storage',
  'lib',
] as const

/**
 * The folders of `apiserver/` from the top: a folder may import those after it. Tests may import any. The groups are
 * described in docs/architecture.md.
 */
export const apiserverFolders = [
  // Assembly of the server.
  'server.ts',
  'components',
  'server-options.ts',
  'warm-up',
  'bootstrap',
  'serving-flags',
  // Features that the handlers below do not depend on.
  'crd',
  'services',
  'identity',
  'profiling',
  'discovery',
  'openapi',
  // Request handling.
  'test-control',
  'clock',
  'chain',
  'endpoints',
  'resource-metrics',
  'flow-control',
  'non-resource',
  'admission',
  'aggregator',
  'storage-format',
  'encryption',
  'authentication',
  'authorization',
  'health',
  'proxy',
  'negotiation',
  'request',
  'outgoing',
  // Reading and writing objects.
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

/** A violation as `file:line: message`. */
export type Violation = string

/**
 * Returns the specifiers of static imports, re-exports, dynamic imports and import types, with their lines. Ignores
 * comments.
 */
export function importsOf(source: string): { readonly specifier: string; readonly line: number }[] {
  // Comments become spaces, so that positions stay the same. A string that looks like a comment may disappear, but an
  // import never does.
  const code = source.replace(/^\s*(\/\/.*|\/\*[\s\S]*?\*\/)/gm, (comment) => comment.replace(/[^\n]/g, ' '))
  const found = code.matchAll(/\b(?:from|import)\s*\(?\s*(['"])(\.{1,2}\/[^'"\n]*)\1/g)
  return [...found].map((match) => ({ specifier: match[2] ?? '', line: code.slice(0, match.index).split('\n').length }))
}

/** Returns the violations of a file; `file` is its path below `src`. */
export function checkFile(file: string, source: string): Violation[] {
  const at = (line: number, what: string): Violation => `src/${file}:${line}: ${what}`
  const own = layerOf(file)
  if (own < 0) return [at(1, `is in no layer: move it to one of ${layers.join(', ')}`)]
  return importsOf(source).flatMap(({ specifier, line }) => {
    const target = relative('/src', resolve('/src', dirname(file), specifier))
    // package.json and other files outside of src have no layer.
    if (target.startsWith('..')) return []
    if (isTestCode(target) && !isTestCode(file)) return [at(line, `imports ${specifier}, which only tests may import`)]
    const other = layerOf(target)
    if (other < 0) return [at(line, `imports ${specifier}, which is in no layer`)]
    if (other < own)
      return [at(line, `${layers[own]} may not import ${layers[other]} (${specifier}): imports go down only`)]
    const up = other === own ? folderAbove(file, target) : undefined
    return up ? [at(line, `${up} (${specifier}): imports go down only`)] : []
  })
}

/** Returns the folders of an import that goes up inside `apiserver/`; undefined if it does not. */
function folderAbove(file: string, target: string): string | undefined {
  if (!file.startsWith('apiserver/') || isTestCode(file)) return undefined
  const [own, other] = [file, target].map((path) => path.split('/')[1]!)
  const [ownPlace, otherPlace] = [own, other].map((folder) => (apiserverFolders as readonly string[]).indexOf(folder!))
  if (ownPlace! < 0) return `apiserver/${own} has no place in the order of folders (scripts/checks/layers.ts)`
  return otherPlace! < ownPlace! ? `apiserver/${own} may not import apiserver/${other}` : undefined
}

/** Returns the index of the layer; -1 for a file outside of all. */
const layerOf = (file: string): number =>
  file.includes('/') ? layers.indexOf(file.split('/')[0] as (typeof layers)[number]) : -1

function main(): void {
  const root = join(import.meta.dirname, '../../src')
  const violations = globSync('**/*.ts', { cwd: root })
    .sort()
    .flatMap((file) => checkFile(file, readFileSync(join(root, file), 'utf8')))
  for (const violation of violations) console.log(violation)
  if (violations.length > 0) process.exitCode = 1
}

if (import.meta.main) main()
