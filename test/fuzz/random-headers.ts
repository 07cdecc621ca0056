/** Random headers of requests: credentials, media types, impersonation. */
import type { Random } from './random.ts'

const token = 'fuzz'
/** The token of a user with few rights. */
const fewRights = 'few'

const accepts: readonly string[] = [
  'application/json',
  '*/*',
  'application/yaml',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
  'application/vnd.kubernetes.protobuf',
  'application/vnd.kubernetes.protobuf,application/json',
  'text/html',
  'application/json;as=Nothing',
  'application/json;stream=watch',
  ';;;',
  'a/b;q=x,*/*;q=0.1',
  'application/yaml;as=Table;g=meta.k8s.io;v=v1',
  'application/json;q=2;;=;',
  'application/cbor',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  ',',
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
]
export const contentTypes: readonly string[] = [
  'application/json',
  'application/yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/vnd.kubernetes.protobuf',
  'application/apply-patch+cbor',
  'text/plain',
  '',
  'application/json; charset=utf-8',
  'a',
  ';',
]

/** Returns headers of a request with a body of this type; empty for a request without a body. */
export function randomHeaders(r: Random, contentType: string): Record<string, string> {
  return {
    authorization: r.chance(0.75)
      ? `Bearer ${token}`
      : r.chance(0.9)
        ? `Bearer ${fewRights}`
        : r.pick(['Bearer x', 'Basic YTpi', 'Bearer', `Bearer  ${token}`, 'x'.repeat(3000)]),
    ...(contentType && { 'content-type': r.chance(0.97) ? contentType : r.pick(contentTypes) }),
    ...(r.chance(0.15) && { accept: r.pick(accepts) }),
    ...(r.chance(0.2) && {
      'user-agent': r.pick([
        'curl/8',
        'Mozilla/5.0',
        'kubectl/v1.36',
        '',
        '/',
        'ü'.normalize('NFD').replace(/[^ -~]/g, ''),
        'a'.repeat(500),
      ]),
    }),
    ...(r.chance(0.02) && { 'impersonate-user': r.pick(['jane', 'system:serviceaccount:a:b', 'system:anonymous']) }),
    ...(r.chance(0.01) && { 'impersonate-group': r.pick(['a', 'system:masters']) }),
    ...(r.chance(0.01) && { 'impersonate-extra-x%2f': '%zz' }),
    ...(r.chance(0.02) && { 'if-none-match': '"x"', range: 'bytes=0-1', 'accept-encoding': 'gzip', te: 'trailers' }),
  }
}
