/** Explains why an endpoint of etcd cannot be used: one sentence with a remedy. */

import type { StatusResponse } from '#protobuf/etcd-rpc_pb.js'
import { errorCode } from '../../../lib/explained-error.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { EtcdError } from './etcd-error.ts'

const untrusted =
  'has a certificate that the CA does not vouch for: give the CA of its server certificate with --etcd-cafile'
const clock = 'check the clocks of both machines, and renew the certificate if it has expired'

/** Sentences after `etcd at URL` for codes of OpenSSL and the system. */
const explanations: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_HAS_EXPIRED: `has a certificate that has expired by this machine's clock: ${clock}`,
  CERT_NOT_YET_VALID: `has a certificate that is not valid yet by this machine's clock: ${clock}`,
  ERR_TLS_CERT_ALTNAME_INVALID:
    'has a certificate for other names: name the server as in its certificate in --etcd-servers',
  ERR_SSL_WRONG_VERSION_NUMBER: 'does not speak TLS: write its URL with http:// in --etcd-servers',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'does not speak TLS: write its URL with http:// in --etcd-servers',
  ECONNREFUSED: 'refuses connections: start it, or correct --etcd-servers',
  ENOTFOUND: 'has a host name that cannot be resolved: correct --etcd-servers, or the name service',
}

/** These may end without a change of flags or files. */
const passingCodes: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'CERT_NOT_YET_VALID']

export interface ConnectProblem {
  /** With a remedy. */
  readonly sentence: string
  /** False if it may end by itself. */
  readonly isLasting: boolean
}

const lasting = (sentence: string): ConnectProblem => ({ sentence, isLasting: true })
const passing = (sentence: string): ConnectProblem => ({ sentence, isLasting: false })

/** A refused client certificate arrives as an alert. */
const certificateAlert = /alert (bad certificate|unknown ca|certificate (required|unknown|expired))/i

/** Returns the problem of a connection that failed. */
export function connectProblem(url: string, error: unknown): ConnectProblem {
  const code = errorCode(error) ?? ''
  const explanation = explanations[code]
  if (explanation) return { sentence: `etcd at ${url} ${explanation}`, isLasting: !passingCodes.includes(code) }
  const message = messageOf(error)
  if (certificateAlert.test(message))
    return lasting(
      `etcd at ${url} rejects the client certificate: give one that it trusts and that is valid by its clock with ` +
        '--etcd-certfile and --etcd-keyfile',
    )
  return passing(`etcd at ${url} is not reachable: ${message}`)
}

const oldestMinor = 4

/** Returns the problem of a server that accepts connections and does not return its status. */
export function statusProblem(url: string, error: unknown, isHttp2: boolean): ConnectProblem {
  const message = messageOf(error)
  if (message === 'etcdserver: no leader') return withoutLeader(url)
  if (isHttp2) return passing(`etcd at ${url} does not return its status: ${message}`)
  if (error instanceof EtcdError && error.code === 'DeadlineExceeded') return passing(message)
  return lasting(
    `etcd at ${url} ended the connection: name a server of etcd and its scheme in --etcd-servers, and if it requires ` +
      'a client certificate, give one that it trusts and that is valid by its clock with --etcd-certfile and ' +
      '--etcd-keyfile',
  )
}

const withoutLeader = (url: string): ConnectProblem =>
  passing(`etcd at ${url} has no leader: start a majority of the members of its cluster`)

/** Returns the problem of a member that answers and still cannot serve; undefined if it can. */
export function memberProblem(
  url: string,
  status: StatusResponse,
  clusterId: bigint | undefined,
): ConnectProblem | undefined {
  const [, major = 0, minor = 0] = (/^(\d+)\.(\d+)/.exec(status.version) ?? []).map(Number)
  if (major === 0) return lasting(`etcd at ${url} does not name its version: use etcd 3.4 or a later version`)
  if (major < 3 || (major === 3 && minor < oldestMinor))
    return lasting(`etcd at ${url} is version ${status.version}: upgrade it to 3.4 or a later version`)
  if (clusterId !== undefined && status.header && status.header.clusterId !== clusterId)
    return lasting(`etcd at ${url} belongs to another cluster than the other servers: correct --etcd-servers`)
  if (status.isLearner)
    return passing(`etcd at ${url} is a learner, which serves no requests: promote it with \`etcdctl member promote\``)
  if (status.leader === 0n) return withoutLeader(url)
  return undefined
}
