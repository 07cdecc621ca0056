/** Explains why a namespace is not deleted and what to do about it. */

export interface NamespaceFacts {
  readonly name: string
  /** RFC 3339; undefined if it is not being deleted. */
  readonly deletedAt?: string
  /** Finalizers in the metadata and in the spec, except `kubernetes`. */
  readonly finalizers: readonly string[]
  readonly content: readonly ContentFacts[]
  readonly apiServices: readonly ApiServiceFacts[]
}

/** Objects of one kind in the namespace. */
export interface ContentFacts {
  /** As in kubectl commands: `deployments.apps`. */
  readonly resource: string
  readonly objects: readonly {
    readonly name: string
    readonly finalizers: readonly string[]
    readonly isBeingDeleted: boolean
  }[]
  /** The server's error for deleting an object that is not deleted yet. */
  readonly refusal?: string
}

/** An unavailable aggregated API. */
export interface ApiServiceFacts {
  readonly name: string
  readonly message: string
  /** `namespace/name` of its Service. `hasService`: true if that exists. */
  readonly service?: string
  readonly hasService: boolean
}

export interface NamespaceExplanation {
  readonly lines: readonly string[]
  /** APIServices that can be deleted safely: their Service does not exist. */
  readonly deletable: readonly string[]
}

const maxNamed = 5

export function explainNamespace({
  name,
  deletedAt,
  finalizers,
  content,
  apiServices,
}: NamespaceFacts): NamespaceExplanation {
  if (deletedAt === undefined) return { lines: [`namespace ${name} is not being deleted`], deletable: [] }
  const lines = [`namespace ${name} is being deleted since ${deletedAt}`]
  const todo: string[] = []
  for (const { resource, objects, refusal } of content) {
    lines.push(
      `  ${objects.length} ${resource} ${objects.length === 1 ? 'remains' : 'remain'}: ` +
        `${named(objects.map((object) => object.name))}`,
    )
    for (const [finalizer, holding] of byFinalizer(objects)) {
      lines.push(`    the finalizer ${finalizer} blocks the deletion of ${named(holding)}`)
      todo.push(
        `find out which controller removes ${finalizer} and why it does not. If none will, remove it by hand, which ` +
          'skips its clean-up:',
        ...holding
          .slice(0, maxNamed)
          .map((object) => `  kubectl edit -n ${name} ${resource} ${object}    (and remove ${finalizer})`),
      )
    }
    if (refusal !== undefined) {
      lines.push(`    they cannot be deleted: ${refusal}`)
      const [, webhook] = /failed calling webhook "([^"]+)"/.exec(refusal) ?? []
      todo.push(
        webhook
          ? `the webhook ${webhook} does not answer: restore its server or delete its configuration (kubectl ` +
              'get validatingwebhookconfigurations,mutatingwebhookconfigurations)'
          : `allow the deletion of ${resource}`,
      )
    }
  }
  for (const { name: service, message } of apiServices)
    lines.push(`  APIService ${service} is not available, so its objects here are unknown: ${message}`)
  for (const { name: service, service: behind, hasService } of apiServices) {
    todo.push(
      hasService || !behind
        ? `restore the server of APIService ${service}`
        : `APIService ${service} points to the Service ${behind}, which does not exist: kubectl delete apiservice ` +
            `${service}    (--fix does it)`,
    )
  }
  for (const finalizer of finalizers) {
    lines.push(`  the finalizer ${finalizer} of the namespace itself blocks its deletion`)
    todo.push(`find out which controller removes ${finalizer} from the namespace and why it does not`)
  }
  if (todo.length === 0)
    lines.push(
      content.length > 0
        ? '  nothing blocks the remaining objects: they are being deleted'
        : '  it is empty: it will be deleted soon',
    )
  else lines.push('', 'What to do:', ...todo.map((line) => `  ${line}`))
  return {
    lines,
    deletable: apiServices.flatMap(({ name: service, service: behind, hasService }) =>
      behind && !hasService ? [service] : [],
    ),
  }
}

const named = (all: readonly string[]): string =>
  `${all.slice(0, maxNamed).join(', ')}${all.length > maxNamed ? ` and ${all.length - maxNamed} more` : ''}`

function byFinalizer(objects: ContentFacts['objects']): Map<string, string[]> {
  const held = new Map<string, string[]>()
  for (const { name, finalizers } of objects)
    for (const finalizer of finalizers) held.set(finalizer, [...(held.get(finalizer) ?? []), name])
  return held
}
