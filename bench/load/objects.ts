/** The objects of the load, byte for byte those of kload. */

/** Gadgets are custom resources, defined in `bench/custom-resources/custom-resources.ts`. */
export type Kind = 'pods' | 'configmaps' | 'gadgets'

export const namespace = 'bench'
export const nameOf = (i: number): string => `o-${String(i).padStart(6, '0')}`

export const objectOf = (kind: Kind, i: number): string =>
  kind === 'pods'
    ? `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${nameOf(i)}","labels":{"app":"bench",` +
      `"shard":"${i % 10}"},"annotations":{"note":"${'x'.repeat(200)}"}},"spec":{"nodeSelector":{"never":"here"},` +
      '"containers":[{"name":"main","image":"registry.example/app:1","command":["sleep","1000"],"env":[{"name":"A",' +
      '"value":"1"},{"name":"B","value":"2"}],"ports":[{"containerPort":8080}],"resources":{"requests":{"cpu":' +
      '"10m","memory":"16Mi"}},"readinessProbe":{"httpGet":{"path":"/healthz","port":8080}}}]}}'
    : kind === 'gadgets'
      ? `{"apiVersion":"bench.example.com/v1","kind":"Gadget","metadata":{"name":"${nameOf(i)}","labels":` +
        `{"app":"bench","shard":"${i % 10}"}},"spec":{"k":"${'x'.repeat(1000)}"}}`
      : `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${nameOf(i)}","labels":{"app":"bench",` +
        `"shard":"${i % 10}"}},"data":{"k":"${'x'.repeat(1000)}"}}`
