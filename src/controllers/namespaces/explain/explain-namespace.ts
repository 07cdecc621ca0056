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

/** A part of the explanation: what blocks the deletion, and what to do about it. */
interface Finding {
  readonly lines: readonly string[]
  readonly remedies: readonly string[]
}

const maxNamed = 5

export function explainNamespace(facts: NamespaceFacts): NamespaceExplanation {
  const { name, deletedAt, finalizers, content, apiServices } = facts
  if (deletedAt === undefined) return { lines: [`namespace ${name} is not being deleted`], deletable: [] }
  const findings = [
    ...content.flatMap((remaining) => remainingObjects(name, remaining)),
    ...apiServices.map(unavailableApiService),
    ...finalizers.map(finalizerOfNamespace),
  ]
  const remedies = findings.flatMap((finding) => finding.remedies)
  return {
    lines: [
      `namespace ${name} is being deleted since ${deletedAt}`,
      ...findings.flatMap(({ lines }) => lines),
      ...(remedies.length > 0
        ? ['', 'What to do:', ...remedies.map((line) => `  ${line}`)]
        : [`  ${content.length > 0 ? nothingBlocks : isEmpty}`]),
    ],
    deletable: apiServices.filter(({ service, hasService }) => service && !hasService).map(({ name }) => name),
  }
}

const nothingBlocks = 'nothing blocks the remaining objects: they are being deleted'
const isEmpty = 'it is empty: it will be deleted soon'

/** Objects of one kind, their finalizers, and the error of their deletion. */
function remainingObjects(namespace: string, { resource, objects, refusal }: ContentFacts): Finding[] {
  const names = listed(objects.map(({ name }) => name))
  const counted = `${objects.length} ${resource} ${objects.length === 1 ? 'remains' : 'remain'}`
  return [
    { lines: [`  ${counted}: ${names}`], remedies: [] },
    ...Array.from(byFinalizer(objects), ([finalizer, held]) => blockingFinalizer(namespace, resource, finalizer, held)),
    ...(refusal === undefined
      ? []
      : [{ lines: [`    they cannot be deleted: ${refusal}`], remedies: [remedyOf(resource, refusal)] }]),
  ]
}

/** `names`: the objects that have the finalizer. */
function blockingFinalizer(namespace: string, resource: string, finalizer: string, names: readonly string[]): Finding {
  return {
    lines: [`    the finalizer ${finalizer} blocks the deletion of ${listed(names)}`],
    remedies: [
      `find out which controller removes ${finalizer} and why it does not. If none will, remove it by hand, which ` +
        'skips its clean-up:',
      ...names
        .slice(0, maxNamed)
        .map((name) => `  kubectl edit -n ${namespace} ${resource} ${name}    (and remove ${finalizer})`),
    ],
  }
}

function remedyOf(resource: string, refusal: string): string {
  const [, webhook] = /failed calling webhook "([^"]+)"/.exec(refusal) ?? []
  return webhook
    ? `the webhook ${webhook} does not answer: restore its server or delete its configuration (kubectl ` +
        'get validatingwebhookconfigurations,mutatingwebhookconfigurations)'
    : `allow the deletion of ${resource}`
}

function unavailableApiService({ name, service, hasService, message }: ApiServiceFacts): Finding {
  return {
    lines: [`  APIService ${name} is not available, so its objects here are unknown: ${message}`],
    remedies: [
      hasService || !service
        ? `restore the server of APIService ${name}`
        : `APIService ${name} points to the Service ${service}, which does not exist: kubectl delete apiservice ` +
          `${name}    (--fix does it)`,
    ],
  }
}

const finalizerOfNamespace = (finalizer: string): Finding => ({
  lines: [`  the finalizer ${finalizer} of the namespace itself blocks its deletion`],
  remedies: [`find out which controller removes ${finalizer} from the namespace and why it does not`],
})

/** The first names, and the number of the others. */
const listed = (all: readonly string[]): string =>
  `${all.slice(0, maxNamed).join(', ')}${all.length > maxNamed ? ` and ${all.length - maxNamed} more` : ''}`

function byFinalizer(objects: ContentFacts['objects']): Map<string, string[]> {
  const held = new Map<string, string[]>()
  for (const { name, finalizers } of objects)
    for (const finalizer of finalizers) held.set(finalizer, [...(held.get(finalizer) ?? []), name])
  return held
}
