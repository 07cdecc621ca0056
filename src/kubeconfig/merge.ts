/** Puts a context into a kubeconfig file that people also edit by hand: everything else in it stays, comments included. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { type Document, isMap, isScalar, isSeq, parseDocument, type YAMLMap, YAMLSeq } from 'yaml'
import { ExplainedError, reasonOf } from '../lib/explained-error.ts'
import { writeFileAtomically } from '../lib/files/atomic-file.ts'
import { makeDirectory } from '../lib/files/make-directory.ts'
import { type Kubeconfig, kubeconfigYaml } from './kubeconfig.ts'

/** The file that kubectl writes to: the first of $KUBECONFIG, or ~/.kube/config. */
export function defaultKubeconfigFile(environment: NodeJS.ProcessEnv): string {
  const first = environment.KUBECONFIG?.split(delimiter).find((file) => file !== '')
  return first ?? join(environment.HOME || homedir(), '.kube', 'config')
}

/**
 * Adds the clusters, users and contexts of `config` to `file`, replacing entries of the same names; makes the file if
 * there is none. The current context stays what it is unless there is none. A link is followed.
 */
export function mergeKubeconfig(file: string, config: Kubeconfig): void {
  try {
    const target = existsSync(file) ? realpathSync(file) : file
    const present = existsSync(target) ? readFileSync(target, 'utf8') : ''
    makeDirectory(dirname(target), 0o700)
    writeFileAtomically(target, mergedText(present, config, file), 0o600)
  } catch (error) {
    if (error instanceof ExplainedError) throw error
    throw new ExplainedError(
      `cannot add the context to ${file}: ${reasonOf(error)}; leave out --merge-kubeconfig or set KUBECONFIG to a file that can be written`,
      { cause: error },
    )
  }
}

/** The text of a kubeconfig with `config` in it. `file` is named in errors. */
export function mergedText(present: string, config: Kubeconfig, file: string): string {
  if (present.trim() === '') return kubeconfigYaml(config)
  const document = parseDocument(present)
  const [problem] = document.errors
  if (problem || !isMap(document.contents)) {
    throw new ExplainedError(
      `${file} is not a kubeconfig (${problem ? problem.message.split('\n')[0] : 'it holds no fields'}): it was left as it is; mend it or leave out --merge-kubeconfig`,
    )
  }
  for (const section of ['clusters', 'users', 'contexts'] as const) {
    const entries = sequence(document, section, file)
    for (const entry of config[section]) put(document, entries, entry)
  }
  if (!document.get('current-context')) document.set('current-context', config['current-context'])
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

/** The list called `name`, made if it is missing or null. */
function sequence(document: Document, name: string, file: string): YAMLSeq {
  const node = document.get(name, true)
  if (isSeq(node)) {
    // An empty list is written `[]`; entries read better below each other.
    if (node.items.length === 0) node.flow = false
    return node
  }
  if (node !== undefined && !(isScalar(node) && node.value === null)) {
    throw new ExplainedError(`${file} is not a kubeconfig (${name} is no list): it was left as it is; mend it or leave out --merge-kubeconfig`)
  }
  const made = new YAMLSeq()
  document.set(name, made)
  return made
}

/** Replaces the entry of the same name in its place, or adds it at the end. */
function put(document: Document, entries: YAMLSeq, entry: { readonly name: string }): void {
  const index = entries.items.findIndex((item) => isMap(item) && item.get('name') === entry.name)
  const old = entries.items[index]
  const node = document.createNode(entry) as YAMLMap
  if (isMap(old)) {
    node.commentBefore = old.commentBefore
    node.spaceBefore = old.spaceBefore
    entries.items[index] = node
  } else {
    entries.items.push(node)
  }
}
