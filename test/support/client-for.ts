/** A client of a test's cluster with the rights of its administrator. Its connection ends with the test. */
import { Connection } from '../../src/client/connection/connection.ts'
import { RestClient } from '../../src/client/rest/rest-client.ts'
import type { Lifetime, Reach } from './reachable-cluster.ts'

export function clientFor(t: Lifetime, { client: { url, ca, cert, key } }: Pick<Reach, 'client'>): RestClient {
  const connection = new Connection({ url, ca, cert, key })
  t.after(() => connection.close())
  return new RestClient(connection)
}
