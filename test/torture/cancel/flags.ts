/** Files and flags with which a server uses the backend of a cancel storm for all kinds of outgoing requests. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Backend } from './backend.ts'

export const adminToken = 'storm-admin'

/** Writes the files into the folder and returns the flags of `t8s up`. */
export function stormFlags(folder: string, { port, ca }: Backend): readonly string[] {
  const write = (name: string, content: object | string): string => {
    const file = join(folder, name)
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
    return file
  }
  const kubeconfig = (path: string): string =>
    write(`${path}.kubeconfig`, {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'backend',
          cluster: {
            server: `https://127.0.0.1:${port}/${path}`,
            'certificate-authority-data': Buffer.from(ca).toString('base64'),
          },
        },
      ],
      users: [{ name: 'server', user: { token: 'server' } }],
      contexts: [{ name: 'c', context: { cluster: 'backend', user: 'server' } }],
      'current-context': 'c',
    })
  const images = {
    imagePolicy: {
      kubeConfigFile: kubeconfig('images'),
      allowTTL: -1,
      denyTTL: -1,
      retryBackoff: 5,
      defaultAllow: true,
    },
  }
  const flags = {
    'token-auth-file': write('tokens.csv', `${adminToken},storm,1,"system:masters"\n`),
    'authentication-token-webhook-config-file': kubeconfig('authenticate'),
    'authentication-token-webhook-version': 'v1',
    'authentication-token-webhook-cache-ttl': '100ms',
    'authorization-config': write('authorization.json', authorization(kubeconfig('authorize'))),
    'audit-policy-file': write('audit.json', {
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      rules: [{ level: 'RequestResponse', namespaces: ['storm'] }, { level: 'Metadata' }],
    }),
    'audit-webhook-config-file': kubeconfig('audit'),
    'audit-webhook-initial-backoff': '10ms',
    'audit-webhook-batch-max-wait': '200ms',
    'enable-admission-plugins': 'ImagePolicyWebhook',
    'admission-control-config-file': write('admission.json', {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [{ name: 'ImagePolicyWebhook', configuration: images }],
    }),
  }
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
}

const authorization = (kubeConfigFile: string): object => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthorizationConfiguration',
  authorizers: [
    { type: 'Node', name: 'node' },
    { type: 'RBAC', name: 'rbac' },
    {
      type: 'Webhook',
      name: 'backend',
      webhook: {
        timeout: '1s',
        failurePolicy: 'NoOpinion',
        authorizedTTL: '100ms',
        unauthorizedTTL: '100ms',
        subjectAccessReviewVersion: 'v1',
        matchConditionSubjectAccessReviewVersion: 'v1',
        connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
      },
    },
  ],
})
