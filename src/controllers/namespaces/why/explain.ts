/** Says why a namespace does not go away, and what to do about it. */

export interface NamespaceFacts {
  readonly name: string
  /** RFC 3339, where it is being deleted. */
  readonly deletedAt?: string
  /** Finalizers of the metadata, and of the spec but for Kubernetes' own. */
  readonly finalizers: readonly string[]
  readonly content: readonly ContentFacts[]
  readonly apiServices: readonly ApiServiceFacts[]
}

/** Objects of one kind in the namespace. */
export interface ContentFacts {
  /** As kubectl takes it: `deployments.apps`. */
  readonly resource: string
  readonly objects: readonly {
    readonly name: string
    readonly finalizers: readonly string[]
    readonly isBeingDeleted: boolean
  }[]
  /** Why one that nobody has deleted yet cannot be deleted, in the server's words. */
  readonly refusal?: string
}

/** A server of other APIs that is not available. */
export interface ApiServiceFacts {
  readonly name: string
  readonly message: string
  /** `namespace/name` of its Service, and whether that is there. */
  readonly service?: string
  readonly hasService: boolean
}

export interface NamespaceExplanation {
  readonly lines: readonly string[]
  /** APIServices that can be deleted without losing anything: what they point to is not there. */
  readonly deletable: readonly string[]
}

const mostNamed = 5

export function explainNamespace({
  name,
  deletedAt,
  finalizers,
  content,
  apiServices,
}: NamespaceFacts): NamespaceExplanation {
  if (deletedAt === undefined) return { lines: [`namespace ${name} stays: nobody has deleted it`], deletable: [] }
  const lines = [`namespace ${name} is being deleted since ${deletedAt}`]
  const todo: string[] = []
  for (const { resource, objects, refusal } of content) {
    lines.push(
      `  ${objects.length} ${resource} ${objects.length === 1 ? 'is' : 'are'} left: ` +
        `${named(objects.map((object) => object.name))}`,
    )
    for (const [finalizer, holding] of byFinalizer(objects)) {
      lines.push(`    the finalizer ${finalizer} holds ${named(holding)}`)
      todo.push(
        `find out who takes ${finalizer} away and why they do not; if nobody will any more, what they would have ` +
          'cleaned up stays behind:',
        ...holding
          .slice(0, mostNamed)
          .map((object) => `  kubectl edit -n ${name} ${resource} ${object}    (and remove ${finalizer})`),
      )
    }
    if (refusal !== undefined) {
      lines.push(`    they cannot be deleted: ${refusal}`)
      const [, webhook] = /failed calling webhook "([^"]+)"/.exec(refusal) ?? []
      todo.push(
        webhook
          ? `the webhook ${webhook} does not answer: bring its server back, or delete its configuration (kubectl ` +
              'get validatingwebhookconfigurations,mutatingwebhookconfigurations)'
          : `allow that ${resource} are deleted`,
      )
    }
  }
  for (const { name: service, message } of apiServices)
    lines.push(`  APIService ${service} is not available, so nobody knows what it has here: ${message}`)
  for (const { name: service, service: behind, hasService } of apiServices) {
    todo.push(
      hasService || !behind
        ? `bring the server of APIService ${service} back`
        : `APIService ${service} points to the Service ${behind}, which is not there: kubectl delete apiservice ` +
            `${service}    (--fix does it)`,
    )
  }
  for (const finalizer of finalizers) {
    lines.push(`  the finalizer ${finalizer} of the namespace itself holds it`)
    todo.push(`find out who takes ${finalizer} away from the namespace and why they do not`)
  }
  if (todo.length === 0)
    lines.push(
      content.length > 0
        ? '  nothing holds what is left: it is on its way'
        : '  nothing is left in it: it goes at any moment',
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
  `${all.slice(0, mostNamed).join(', ')}${all.length > mostNamed ? ` and ${all.length - mostNamed} more` : ''}`

function byFinalizer(objects: ContentFacts['objects']): Map<string, string[]> {
  const held = new Map<string, string[]>()
  for (const { name, finalizers } of objects)
    for (const finalizer of finalizers) held.set(finalizer, [...(held.get(finalizer) ?? []), name])
  return held
}
