/** The kubeconfig of a t8s cluster, and its YAML. `merge.ts` reads and merges other kubeconfigs. */

export interface Kubeconfig {
  readonly apiVersion: 'v1'
  readonly kind: 'Config'
  readonly clusters: readonly { readonly name: string; readonly cluster: ClusterEntry }[]
  readonly users: readonly { readonly name: string; readonly user: UserEntry }[]
  readonly contexts: readonly { readonly name: string; readonly context: ContextEntry }[]
  readonly 'current-context': string
}

export interface ClusterEntry {
  readonly server: string
  /** PEM in base64, like all `-data` fields. */
  readonly 'certificate-authority-data': string
}

export interface UserEntry {
  readonly 'client-certificate-data': string
  readonly 'client-key-data': string
}

export interface ContextEntry {
  readonly cluster: string
  readonly user: string
}

/** The URL of a cluster, and certificates and key in PEM. */
export interface Access {
  readonly url: string
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** A kubeconfig with one cluster, one user and one context, all named `name`. */
export function kubeconfigFor(name: string, { url, ca, cert, key }: Access): Kubeconfig {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': base64(ca) } }],
    users: [{ name, user: { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  }
}

/** Writes YAML by hand, since loading a YAML library takes longer than everything else here. */
export function kubeconfigYaml(config: Kubeconfig): string {
  return (
    `apiVersion: ${config.apiVersion}\nkind: ${config.kind}\n` +
    list('clusters', config.clusters) +
    list('users', config.users) +
    list('contexts', config.contexts) +
    `current-context: ${scalar(config['current-context'])}\n`
  )
}

/** A list of `{ name, what: { field: text } }`. */
function list(title: string, entries: readonly object[]): string {
  const lines = entries.map((entry) => {
    const fields = Object.entries(entry).map(([key, value]) =>
      typeof value === 'string' ? `${key}: ${scalar(value)}` : `${key}:\n${mapping(value)}`,
    )
    return `- ${fields.join('\n  ')}\n`
  })
  return `${title}:\n${lines.join('')}`
}

const mapping = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([key, value]) => `    ${key}: ${scalar(value)}`)
    .join('\n')

/** Words, URLs and base64 need no quotes; JSON strings are valid YAML strings. */
const scalar = (text: string): string =>
  /^[A-Za-z][\w./:=+-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text) && !text.endsWith(':')
    ? text
    : JSON.stringify(text)

const base64 = (pem: string): string => Buffer.from(pem).toString('base64')
