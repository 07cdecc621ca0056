/** The variables of admission expressions (policies, match conditions of webhooks) and their types. */
import { type Environment, environment } from '../environment.ts'
import { resourceCheckType } from '../libraries/authorizer.ts'
import { authorizerType, jsonPatchLibrary, kubernetesLibraries } from '../libraries/index.ts'
import {
  boolType,
  dynType,
  type Field,
  intType,
  listType,
  mapType,
  type ObjectType,
  objectType,
  stringType,
  type Type,
  timestampType,
} from '../types.ts'

const groupVersionKind = objectType('kubernetes.GroupVersionKind', {
  group: stringType,
  version: stringType,
  kind: stringType,
})
const groupVersionResource = objectType('kubernetes.GroupVersionResource', {
  group: stringType,
  version: stringType,
  resource: stringType,
})

const userInfo = objectType('kubernetes.UserInfo', {
  username: stringType,
  uid: stringType,
  groups: listType(stringType),
  extra: mapType(stringType, listType(stringType)),
})

/** The type of `request`. */
export const requestType = objectType('kubernetes.AdmissionRequest', {
  kind: groupVersionKind,
  resource: groupVersionResource,
  subResource: stringType,
  requestKind: groupVersionKind,
  requestResource: groupVersionResource,
  requestSubResource: stringType,
  name: stringType,
  namespace: stringType,
  operation: stringType,
  userInfo,
  dryRun: boolType,
  options: dynType,
})

const namespaceCondition = objectType('kubernetes.NamespaceCondition', {
  status: stringType,
  type: stringType,
  lastTransitionTime: timestampType,
  message: stringType,
  reason: stringType,
})

const namespaceMetadata = objectType('kubernetes.NamespaceMetadata', {
  name: stringType,
  generateName: stringType,
  namespace: stringType,
  labels: mapType(stringType, stringType),
  annotations: mapType(stringType, stringType),
  UID: stringType,
  creationTimestamp: timestampType,
  deletionGracePeriodSeconds: intType,
  deletionTimestamp: timestampType,
  generation: intType,
  resourceVersion: stringType,
  finalizers: listType(stringType),
})

/** The type of `namespaceObject`. */
export const namespaceType = objectType('kubernetes.Namespace', {
  metadata: namespaceMetadata,
  spec: objectType('kubernetes.NamespaceSpec', { finalizers: listType(stringType) }),
  status: objectType('kubernetes.NamespaceStatus', { conditions: listType(namespaceCondition), phase: stringType }),
})

/** The type of an operation of a JSON patch. */
export const jsonPatchType = objectType('JSONPatch', {
  op: stringType,
  path: stringType,
  from: stringType,
  value: dynType,
})

/** Fields of any name, with type dyn. */
class AnyFields extends Map<string, Field> {
  override get(): Field {
    return { type: dynType }
  }
  override has(): boolean {
    return true
  }
}

const anyFields: ReadonlyMap<string, Field> = new AnyFields()

/**
 * The types of apply configurations: `Object`, `Object.spec`, `Object.spec.template`. Whether the fields exist is
 * checked later.
 */
const objectNamed = (name: string): ObjectType | undefined =>
  name === 'Object' || name.startsWith('Object.') ? { kind: 'object', name, fields: anyFields } : undefined

export interface AdmissionEnvironmentOptions {
  /** True if there is a variable `params`. */
  readonly params: boolean
  /** True if there is a variable `authorizer`. */
  readonly authorizer: boolean
  /** True if expressions can construct changes: `Object{…}`, `JSONPatch{…}`. Default: false. */
  readonly patches?: boolean
  /** The type of `object` and `oldObject`. Default: dyn. */
  readonly object?: Type
  /** The type of `params`. Default: dyn. */
  readonly paramsType?: Type
}

let base: Environment | undefined

const baseEnvironment = (): Environment =>
  (base ??= environment({
    libraries: kubernetesLibraries,
    variables: { object: dynType, oldObject: dynType, request: requestType, namespaceObject: namespaceType },
  }))

const cache = new Map<string, Environment>()

/** Returns the environment for the options. Environments without types of their own are cached. */
export function admissionEnvironment(options: AdmissionEnvironmentOptions): Environment {
  const { object, paramsType, params, authorizer, patches } = options
  if (object || paramsType) return createEnvironment(options)
  const key = `${params}/${authorizer}/${patches ?? false}`
  let known = cache.get(key)
  if (!known) cache.set(key, (known = createEnvironment(options)))
  return known
}

const createEnvironment = ({
  params,
  authorizer,
  patches,
  object,
  paramsType = dynType,
}: AdmissionEnvironmentOptions): Environment =>
  baseEnvironment().extend({
    variables: {
      ...(object && { object, oldObject: object }),
      ...(params && { params: paramsType }),
      ...(authorizer && { authorizer: authorizerType, 'authorizer.requestResource': resourceCheckType }),
    },
    ...(patches && { libraries: [jsonPatchLibrary], types: [jsonPatchType], resolveType: objectNamed }),
  })
