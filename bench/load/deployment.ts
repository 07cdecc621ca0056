/**
 * Returns a Deployment of 18.5 KB, typical of larger charts: eight containers with twenty variables each. `round`
 * changes its images.
 */
export function deploymentOf(name: string, round: number): string {
  const containers = Array.from({ length: 8 }, (_, c) => ({
    name: `c-${c}`,
    image: `registry.example/app-${c}:${round}`,
    args: ['--listen=:8080', '--verbose'],
    env: Array.from({ length: 20 }, (_, e) => ({ name: `VARIABLE_${e}`, value: `value ${e} ${'x'.repeat(50)}` })),
    ports: ['http', 'metrics'].map((name, p) => ({ name: `${name}-${c}`, containerPort: 8000 + 100 * p + c })),
    resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '100m', memory: '64Mi' } },
    readinessProbe: { httpGet: { path: '/healthz', port: 8000 + c } },
    volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
  }))
  const labels = { app: name }
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { note: 'x'.repeat(200) } },
        spec: { containers, volumes: [{ name: 'scratch', emptyDir: {} }] },
      },
    },
  })
}
