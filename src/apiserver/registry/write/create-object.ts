/** Creates an object: the write path of POST, and of PUT and apply if the object does not exist. */
import { randomInt, randomUUID } from 'node:crypto'
import type { KubeObject, Unstructured } from '../../../machinery/object.ts'
import { alreadyExists, forbidden, internal, StatusError, serverTimeout } from '../../../machinery/status-error.ts'
import { type StoredObject, unstored } from '../stored-object.ts'
import type { Lost } from './commits.ts'
import { attributes, track, validateCreate, type WriteContext } from './write-context.ts'

/** No vowels and no digits that look like letters, so that no words appear. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const suffixLength = 5
/** The maximum length of a generated name with its suffix: that of a DNS label. */
const maxGeneratedLength = 63
const generateAttempts = 8
/** How often a write hook may choose again, after another server was faster. */
const hookAttempts = 8

export function generateName(prefix: string): string {
  let suffix = ''
  for (let i = 0; i < suffixLength; i++) suffix += alphabet[randomInt(alphabet.length)]
  return prefix.slice(0, maxGeneratedLength - suffixLength) + suffix
}

/** Modifies the object. Throws 409 if the name is taken, 500 ServerTimeout if something that belongs to it is. */
export async function createObject(context: WriteContext, object: KubeObject): Promise<StoredObject> {
  const created = await createIfAbsent(context, object)
  if (created === 'changed') throw await nameTaken(context, object)
  // Another server was faster.
  if (created === 'refused') throw serverTimeout(context.resource.groupResource, 'POST')
  return created
}

/** Returns a `Lost` if the object exists. `tracked`: managedFields are already set (apply). Modifies the object. */
export async function createIfAbsent(
  context: WriteContext,
  object: KubeObject,
  tracked = false,
): Promise<StoredObject | Lost> {
  const { admission, resource, options } = context
  const { createNotAllowedMessage } = resource.definition
  await context.pause()
  if (!tracked) await track(context, object, undefined)
  await context.pause()
  if (createNotAllowedMessage)
    throw forbidden(resource.groupResource, object.metadata.name ?? '', createNotAllowedMessage)
  await admission.mutate(attributes(context, 'CREATE', object))
  resource.asStored(object)
  await resource.writeGuard?.(context, object, undefined)
  const isVersioned = namesNumber(object.metadata.resourceVersion)
  setServerFields(context, object)
  const { writeHook } = resource
  if (!writeHook) return commitNew(context, object, isVersioned)
  const pristine = structuredClone(object)
  for (let attempt = 1; ; attempt++) {
    const tried = attempt === 1 ? object : structuredClone(pristine)
    const end = await writeHook.begin(tried, undefined, options.dryRun)
    try {
      const created = await commitNew(context, tried, isVersioned)
      if (created !== 'refused' || attempt === hookAttempts) return created
    } finally {
      end()
    }
  }
}

async function commitNew(
  context: WriteContext,
  object: KubeObject,
  isVersioned: boolean,
): Promise<StoredObject | Lost> {
  const { registry, admission, resource, options } = context
  const { metadata } = object
  const generated = !metadata.name && metadata.generateName !== undefined && metadata.generateName !== ''
  for (let attempt = 1; ; attempt++) {
    if (generated) metadata.name = generateName(metadata.generateName!)
    resource.removeFields?.(object, undefined)
    resource.withFeatures(() => resource.definition.prepare?.create?.(object, context.user))
    validateCreate(context, object)
    await context.pause()
    await context.confirmCreate?.()
    await admission.validate(attributes(context, 'CREATE', object))
    // Upstream's store throws this: requests that do not reach it (dry runs) and versions that it cannot parse pass.
    if (isVersioned && !options.dryRun) throw internal('resourceVersion should not be set on objects to be created')
    const key = resource.key(metadata.namespace ?? '', metadata.name!)
    const created = options.dryRun
      ? await rehearse(context, key, object)
      : await registry.commits.put(resource, key, object, undefined, { onlyMetadataChanged: false, validSpec: true })
    if (created !== 'changed' || !generated || attempt === generateAttempts) return created
  }
}

/** Returns true if a text is the number of a revision, other than 0. */
const namesNumber = (text = ''): boolean => /^\d+$/.test(text) && !/^0+$/.test(text)

/** Sets the fields that only the server sets. */
function setServerFields({ resource, namespace, now }: WriteContext, object: KubeObject): void {
  const { metadata } = object
  const { definition } = resource
  metadata.uid = randomUUID()
  metadata.creationTimestamp = now()
  delete metadata.resourceVersion
  delete metadata.selfLink
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  if (resource.namespaced) metadata.namespace = namespace
  else delete metadata.namespace
  // Kinds without a generation keep the client's value, as upstream.
  if (definition.generation) metadata.generation = 1
  else if (!metadata.generation) delete metadata.generation
  if (definition.subresources?.status && !definition.acceptsStatusOnCreate) delete (object as Unstructured).status
}

async function rehearse(
  { registry, resource }: WriteContext,
  key: string,
  object: KubeObject,
): Promise<StoredObject | Lost> {
  return (await registry.get(resource, key)) ? 'changed' : unstored(resource, object)
}

async function nameTaken({ registry, resource }: WriteContext, { metadata }: KubeObject): Promise<StatusError> {
  const name = metadata.name ?? ''
  const { message, status } = alreadyExists(resource.groupResource, name)
  const existing = await registry.newest(resource, resource.key(metadata.namespace ?? '', name))
  const prefix = existing?.parse().metadata.deletionTimestamp ? 'object is being deleted: ' : ''
  if (!metadata.generateName) return new StatusError(409, 'AlreadyExists', prefix + message, status.details)
  return new StatusError(
    409,
    'AlreadyExists',
    `${prefix}${message}, the server was not able to generate a unique name for the object`,
    {
      ...status.details,
      retryAfterSeconds: 1,
    },
  )
}
