/** Reads manifests: YAML or JSON as text, files and folders of it, and objects. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import { parseYaml, strictWarnings, YamlError } from '../../machinery/yaml.ts'

/**
 * A text with lines, or a JSON object, is YAML of one or more documents; another text, and a URL, is the path of a
 * file, or of a folder with files. Lists are taken apart.
 */
export type Manifests = Manifest | readonly Manifest[]

type Manifest = string | URL | KubeObject | Unstructured

/** Returns the objects in their order. Throws an ExplainedError that names the file, the document and the problem. */
export function readManifests(manifests: Manifests): Unstructured[] {
  if (Array.isArray(manifests)) return manifests.flatMap((one: Manifest) => readManifests(one))
  if (typeof manifests === 'string')
    return isText(manifests) ? documentsOf(manifests, 'the manifest') : readPath(manifests)
  if (manifests instanceof URL) return readPath(fileURLToPath(manifests))
  return objectsOf(manifests, 'the object')
}

const isText = (text: string): boolean => text.includes('\n') || text.trimStart().startsWith('{')
const extensions = /\.(ya?ml|json)$/

function readPath(path: string): Unstructured[] {
  try {
    if (!statSync(path).isDirectory()) return documentsOf(readFileSync(path, 'utf8'), path)
  } catch (error) {
    if (error instanceof ExplainedError) throw error
    throw new ExplainedError(`Cannot read the manifest ${path}: ${reasonOf(error)}.`, { cause: error })
  }
  const files = readdirSync(path).filter((name) => extensions.test(name))
  if (files.length === 0) throw new ExplainedError(`The folder ${path} has no files .yaml, .yml or .json.`)
  return files.sort().flatMap((name) => readPath(join(path, name)))
}

/** Documents are separated as in kubectl: by lines that begin with `---`. */
function documentsOf(text: string, source: string): Unstructured[] {
  const documents = text.split(/^---(?=\s|$).*$/m)
  return documents.flatMap((document, i) => {
    const place = documents.length > 1 ? `${source}, document ${i + 1}` : source
    const value = parse(document, place)
    return value === null ? [] : objectsOf(value, place)
  })
}

function parse(document: string, place: string): unknown {
  try {
    const { value, strict } = parseYaml(document)
    if (strict.length > 0) throw new YamlError(strictWarnings(strict).join(', '))
    return value
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw new ExplainedError(`Cannot read ${place}: ${error.message}.`, { cause: error })
  }
}

function objectsOf(value: unknown, place: string): Unstructured[] {
  if (!isObject(value)) throw new ExplainedError(`${place} is no object: it needs apiVersion, kind and metadata.`)
  const { items, apiVersion, kind, metadata } = value
  if (Array.isArray(items) && typeof kind === 'string' && kind.endsWith('List'))
    return items.flatMap((item, i) => objectsOf(item, `${place}, item ${i + 1}`))
  const missing = Object.entries({ apiVersion, kind, metadata }).flatMap(([name, member]) => (member ? [] : [name]))
  if (missing.length > 0) throw new ExplainedError(`${place} has no ${missing.join(' and no ')}: add it.`)
  return [value as Unstructured]
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
