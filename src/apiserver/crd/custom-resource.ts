/** Builds a resource, which the server serves like any other, from each version of an established definition. */

import { isDeepStrictEqual } from 'node:util'
import type { V1CustomResourceDefinitionVersion } from '@kubernetes/client-node'
import type { Definition } from '../../api/apiextensions/custom-resource-definition.ts'
import { compareVersions } from '../../api/registry.ts'
import type { ResourceDefinition, Verb } from '../../api/resource.ts'
import { jsonPath } from '../../machinery/json-path/index.ts'
import type { KubeObject, Unstructured, Wire } from '../../machinery/object.ts'
import type { FieldError } from '../../machinery/validation/field-error.ts'
import { validateMetadataUpdate } from '../../machinery/validation/metadata.ts'
import type { ServiceSources } from '../outgoing/index.ts'
import { ServedResource } from '../registry/served-resource.ts'
import type { StoredObject } from '../registry/stored-object.ts'
import { customColumns } from './columns.ts'
import { otherVersions } from './conversion/other-versions.ts'
import { webhookConversion } from './conversion/webhook-conversion.ts'
import { WebhookConverter } from './conversion/webhook-converter.ts'
import { CustomSchema } from './custom-schema.ts'
import { isTrue } from './definitions/conditions.ts'
import { finalizerWarnings } from './finalizer-warnings.ts'
import { scaleFaults } from './scale-rules.ts'
import { type CustomVersion, storedForm } from './stored-form.ts'

type Version = Wire<V1CustomResourceDefinitionVersion>

/** In the order of upstream's discovery. */
const verbs: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const verbsWhileTerminating: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'watch']

/** The resources of a definition. */
export interface CustomResources {
  /** The storage version; it may not be served. */
  readonly storage: ServedResource
  readonly served: readonly ServedResource[]
  /** Converts objects, if the conversion strategy is Webhook. */
  readonly webhook: WebhookConverter | undefined
}

/** `stored` is the definition in the store; schemas are read from it on first use. */
export function customResourcesOf(
  fullDefinition: Definition,
  stored: StoredObject,
  webhooks: ServiceSources,
): CustomResources {
  const definition = withoutSchemas(fullDefinition)
  const { versions, conversion } = definition.spec
  const webhook = conversion?.strategy === 'Webhook' ? new WebhookConverter(definition, webhooks) : undefined
  const storageVersion = versions.find(({ storage }) => storage)!
  const storageSchema = new CustomSchema(stored, storageVersion.name)
  const storage = new ServedResource(resourceOf(definition, storageVersion, storageSchema))
  const versionOf = (version: Version): CustomVersion => {
    if (version === storageVersion) return { resource: storage, schema: storageSchema }
    const schema = new CustomSchema(stored, version.name)
    const storedAs = { resource: storage.groupVersion, toStorage: pruner(storageSchema), fromStorage: pruner(schema) }
    return { resource: new ServedResource({ ...resourceOf(definition, version, schema), storedAs }, storage), schema }
  }
  // Stored objects may have versions that are no longer served.
  const all = new Map(versions.map((version) => [version.name, versionOf(version)]))
  storage.readStored = storedForm(storage, all, webhook !== undefined)
  for (const { resource, schema } of all.values()) {
    if (webhook)
      resource.conversion = webhookConversion(
        webhook,
        { resource, schema },
        { resource: storage, schema: storageSchema },
      )
    resource.otherVersion = otherVersions(definition, all, webhook)
  }
  const served = versions.filter((version) => version.served).map(({ name }) => all.get(name)!.resource)
  return { storage, served, webhook }
}

/**
 * Drops schemas: the resources refer to the definition as long as they live, and unused schemas would take most of the
 * memory.
 */
function withoutSchemas({ metadata, spec, status, ...rest }: Definition): Definition {
  const { managedFields: _, annotations: _annotations, ...meta } = metadata
  return {
    ...rest,
    metadata: meta,
    spec: { ...spec, versions: spec.versions.map(({ schema: _schema, ...version }) => version) },
    status,
  }
}

const pruner =
  (schema: CustomSchema) =>
  (object: KubeObject): KubeObject => {
    schema.prune(object as Unstructured)
    return object
  }

function resourceOf(definition: Definition, version: Version, schema: CustomSchema): ResourceDefinition {
  const { spec, status } = definition
  const { group, scope } = spec
  const { plural, kind, listKind, singular, shortNames, categories } = status?.acceptedNames ?? spec.names
  const isTerminating = isTrue(definition, 'Terminating')
  return {
    group,
    version: version.name,
    kind,
    listKind,
    plural,
    singular,
    shortNames,
    categories,
    scope: scope === 'Cluster' ? 'Cluster' : 'Namespaced',
    verbs,
    discoveryVerbs: isTerminating ? verbsWhileTerminating : verbs,
    ...(isTerminating && {
      createNotAllowedMessage: 'create not allowed while custom resource definition is terminating',
    }),
    storagePath: `${group}/${plural}`,
    custom: {
      fingerprint: fingerprint(definition, version, isTerminating),
      type: () => schema.type({ group, version: version.name, kind }),
      prune: (object) => schema.prune(object),
      decodeError: (object) => schema.embeddedFault(object),
      schema: () => schema.source(),
    },
    subresources: subresourcesOf(version),
    defaults: [(object) => schema.applyDefaults(object)],
    validate: validationOf(version, schema),
    warnings: (object, old) => [...schema.warnings(object), ...finalizerWarnings(object, old)],
    resetFields: { status: ['metadata', 'spec'] },
    prepare: { status: keepMetadata },
    generation: hasChanged,
    requiresVersionOnUpdate: true,
    selectableFields: selectableFields(version),
    unknownFieldLabel: (label) => `field label not supported: ${label}`,
    columns: customColumns(version.additionalPrinterColumns),
    ...(version.deprecated && { deprecationWarning: version.deprecationWarning ?? deprecation(definition, version) }),
  }
}

const fingerprint = ({ metadata }: Definition, version: Version, isTerminating: boolean): string =>
  `${metadata.uid}/${metadata.generation}/${version.name}/${isTerminating}`

function subresourcesOf({ subresources }: Version): ResourceDefinition['subresources'] {
  const { scale, status } = subresources ?? {}
  return {
    ...(status && { status: true }),
    ...(scale && {
      scale: {
        replicas: scale.specReplicasPath,
        observed: scale.statusReplicasPath,
        selector: scale.labelSelectorPath ?? '',
      },
    }),
  }
}

function validationOf({ subresources }: Version, schema: CustomSchema): ResourceDefinition['validate'] {
  const scale = subresources?.scale
  const moreFaults = (object: KubeObject) => (scale ? { moreFaults: () => scaleFaults(object, scale) } : {})
  const faults = (object: KubeObject, old?: KubeObject): readonly FieldError[] =>
    schema.faults(object, old, moreFaults(object))
  return {
    create: faults,
    // Metadata is validated a second time, because upstream reports its faults twice.
    update: (object, old) => [
      ...validateMetadataUpdate(object.metadata, old.metadata, { anyFinalizer: true }),
      ...faults(object, old),
    ],
    status: (object, old) => schema.faults(object, old, { statusOnly: true, ...moreFaults(object) }),
  }
}

/** True if anything but metadata changed. If `/status` is a subresource, the status is the old one at this point. */
const hasChanged = ({ metadata: _, ...object }: KubeObject, { metadata: _old, ...old }: KubeObject): boolean =>
  !isDeepStrictEqual(object, old)

/** Writes through `/status` change only managedFields of the metadata. */
function keepMetadata(object: KubeObject, { metadata }: KubeObject): void {
  const { managedFields } = object.metadata
  object.metadata = { ...metadata }
  if (managedFields) object.metadata.managedFields = managedFields
  else delete object.metadata.managedFields
}

function selectableFields({ selectableFields = [] }: Version): ResourceDefinition['selectableFields'] {
  if (selectableFields.length === 0) return undefined
  return Object.fromEntries(
    selectableFields.map(({ jsonPath: path }) => {
      const find = jsonPath(path)
      return [path.replace(/^\./, ''), (object: KubeObject) => textOf(find(object)?.[0])]
    }),
  )
}

const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : String(value)

/** The deprecation warning; names the most preferred version that is neither deprecated nor older. */
function deprecation({ spec }: Definition, { name }: Version): string {
  const { group } = spec
  const { kind } = spec.names
  const [better] = spec.versions
    .filter((version) => version.served && !version.deprecated && compareVersions(version.name, name) < 0)
    .sort((a, b) => compareVersions(a.name, b.name))
  return `${group}/${name} ${kind} is deprecated${better ? `; use ${group}/${better.name} ${kind}` : ''}`
}
