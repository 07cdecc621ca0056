/** Clusters with auditing, and their events. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lifetime } from '../support/reachable-cluster.ts'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'

/** The fields of an event that tests check. */
export interface AuditEvent {
  readonly auditID: string
  readonly stage: string
  readonly requestURI: string
  readonly verb: string
  readonly objectRef?: Readonly<Record<string, string>>
  readonly responseStatus?: Readonly<Record<string, unknown>>
  readonly responseObject?: Readonly<Record<string, unknown>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly [member: string]: unknown
}

export interface AuditedCluster extends TestCluster {
  readonly logFile: string
  /** The lines of the log without latency annotations: on a busy machine any request may get one. */
  lines(): readonly string[]
  events(): readonly AuditEvent[]
}

export function temporaryFolder(t: Lifetime): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-audit-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** `rules` are the rules of a policy, as YAML on one line. */
export function policyFile(folder: string, rules: string, more = ''): string {
  const file = join(folder, 'policy.yaml')
  writeFileSync(file, `apiVersion: audit.k8s.io/v1\nkind: Policy\n${more}rules: ${rules}\n`)
  return file
}

/** Starts a cluster that writes events to a file. By default everybody may do everything in it. */
export async function auditedCluster(
  t: Lifetime,
  rules: string,
  flags: readonly string[] = [],
  mode = 'AlwaysAllow',
): Promise<AuditedCluster> {
  const folder = temporaryFolder(t)
  const logFile = join(folder, 'log', 'audit.log')
  const cluster = await testCluster(t, {
    apiServerFlags: [
      `--audit-policy-file=${policyFile(folder, rules)}`,
      `--audit-log-path=${logFile}`,
      `--authorization-mode=${mode}`,
      ...flags,
    ],
    tokens: [{ token: 'jane', user: { name: 'jane', groups: ['dev'], extra: { 'example.com/<team>': ['a', 'b'] } } }],
  })
  const lines = (): readonly string[] =>
    readFileSync(logFile, 'utf8')
      .replaceAll(/"apiserver\.latency\.k8s\.io\/total":"[^"]*",?/g, '')
      .split('\n')
      .slice(0, -1)
  return { ...cluster, logFile, lines, events: () => lines().map((line) => JSON.parse(line) as AuditEvent) }
}
