/** The documents in the v3 index, and the operations of paths without a resource. */
import type { ResourceDefinition } from '../../../api/resource.ts'
import { schemaOf } from '../../../api/schema/index.ts'
import { metaPackage } from '../schemas/json-schema.ts'
import { groupName, groupTag } from '../schemas/names.ts'
import { mediaTypes, type Operation } from './operation.ts'

/** The path of a group version in the index: `apis/apps/v1`, `api/v1`. */
export const groupVersionPath = ({ group, version }: Pick<ResourceDefinition, 'group' | 'version'>): string =>
  group ? `apis/${group}/${version}` : `api/${version}`

/** All paths of the index, sorted. */
export function documentPaths(resources: readonly ResourceDefinition[]): string[] {
  const paths = new Set(['.well-known/openid-configuration', 'api', 'apis', 'openid/v1/jwks', 'version'])
  for (const resource of resources) {
    paths.add(groupVersionPath(resource))
    if (resource.group && schemaOf(resource)) paths.add(`apis/${resource.group}`)
  }
  return [...paths].sort()
}

const { objects } = mediaTypes
const json = ['application/json']
const base = { method: 'get', action: '', parameters: [], codes: [200], consumes: objects, produces: objects } as const
const { consumes: _, ...bodiless } = base

const fixed: Readonly<Record<string, Operation>> = {
  '.well-known/openid-configuration': {
    ...bodiless,
    produces: json,
    path: '/.well-known/openid-configuration/',
    id: 'getServiceAccountIssuerOpenIDConfiguration',
    tag: 'WellKnown',
    description: 'get service account issuer OpenID configuration, also known as the OIDC discovery doc',
  },
  'openid/v1/jwks': {
    ...bodiless,
    produces: ['application/jwk-set+json'],
    path: '/openid/v1/jwks/',
    id: 'getServiceAccountIssuerOpenIDKeyset',
    tag: 'openid',
    description: 'get service account issuer OpenID JSON Web Key Set',
  },
  version: {
    ...base,
    consumes: json,
    produces: json,
    path: '/version/',
    id: 'getCodeVersion',
    tag: 'version',
    description: 'get the version information for this server',
    answer: 'io.k8s.apimachinery.pkg.version.Info',
  },
  api: {
    ...base,
    path: '/api/',
    id: 'getCoreAPIVersions',
    tag: 'core',
    description: 'get available API versions',
    answer: `${metaPackage}.APIVersions`,
  },
  apis: {
    ...base,
    path: '/apis/',
    id: 'getAPIVersions',
    tag: 'apis',
    description: 'get available API versions',
    answer: `${metaPackage}.APIGroupList`,
  },
}

/** Operations of a path without a resource: discovery, version, keys. */
export function staticOperations(path: string, resources: readonly ResourceDefinition[]): Operation[] {
  const known = fixed[path]
  if (known) return [known]
  const own = resources.find(
    (resource) =>
      (groupVersionPath(resource) === path || `apis/${resource.group}` === path) && schemaOf(resource) !== undefined,
  )
  if (!own) return []
  const { group, version } = own
  return groupVersionPath(own) === path
    ? [
        {
          ...base,
          path: `/${path}/`,
          id: `get${groupName(group)}${version[0]!.toUpperCase()}${version.slice(1)}APIResources`,
          tag: groupTag(group, version),
          description: 'get available resources',
          answer: `${metaPackage}.APIResourceList`,
        },
      ]
    : [
        {
          ...base,
          path: `/${path}/`,
          id: `get${groupName(group)}APIGroup`,
          tag: groupTag(group),
          description: 'get information of a group',
          answer: `${metaPackage}.APIGroup`,
        },
      ]
}
