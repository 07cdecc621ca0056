/** Random query parameters, plausible or not. */
import type { Random } from './random.ts'

const parameterNames: readonly string[] = [
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'labelSelector',
  'fieldSelector',
  'timeoutSeconds',
  'allowWatchBookmarks',
  'sendInitialEvents',
  'watch',
  'dryRun',
  'fieldManager',
  'fieldValidation',
  'force',
  'pretty',
  'includeObject',
  'gracePeriodSeconds',
  'propagationPolicy',
  'orphanDependents',
  'exclude',
  'verbose',
  'container',
  'x',
  '%',
  '',
]
const parameterValues: readonly string[] = [
  '',
  'true',
  'false',
  '0',
  '1',
  '2',
  '-1',
  '9'.repeat(30),
  'x',
  'All',
  'Strict',
  'Warn',
  'Ignore',
  'Exact',
  'NotOlderThan',
  'Metadata',
  'a=b',
  'a!=b,c in (d,e),!f',
  'metadata.name=a',
  'metadata.name!=a',
  'spec.nodeName=',
  'status.phase=Running',
  'a in (',
  '=',
  ',,,',
  'eyJydiI6MSwic3RhcnQiOiJhIn0',
  '{"v":"meta.k8s.io/v1","rv":5,"start":"a\\u0000"}',
  '😀',
  '\u0000',
  'Orphan',
  'Background',
  'fuzz',
  'a'.repeat(300),
]

function randomParameter(r: Random): string {
  const name = r.pick(parameterNames)
  // The server waits for a future resourceVersion, so those are rare.
  if (name === 'resourceVersion' && r.chance(0.9)) return `${name}=${r.below(300)}`
  return `${name}=${r.chance(0.95) ? encodeURIComponent(r.pick(parameterValues)) : '%zz'}`
}

/** Returns up to four parameters with a `?` in front, or nothing. */
export function randomQuery(r: Random): string {
  const parameters = r.some(4, () => randomParameter(r))
  return parameters.length ? `?${parameters.join('&')}` : ''
}
