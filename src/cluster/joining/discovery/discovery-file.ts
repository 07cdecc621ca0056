/** The kubeconfig of `--discovery-file`: the address and the authority of a cluster, and maybe a token. */

import { readFileSync } from 'node:fs'
import { kubeconfigAccess } from '../../../client/connection/load-access.ts'
import { contextOf } from '../../../kubeconfig/read-context.ts'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { type ClusterPlace, placeIn } from '../cluster-info.ts'

/** Rejects with an ExplainedError for a file without a cluster. */
export async function placeOfFile(file: string): Promise<ClusterPlace> {
  const place = placeIn(textOf(file)) ?? (await placeOfContext(file))
  if (place) return place
  throw new ExplainedError(
    `--discovery-file ${file} has no cluster with a server and certificate-authority-data: kubectl -n kube-public ` +
      "get configmap cluster-info -o jsonpath='{.data.kubeconfig}' prints such a file",
  )
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ExplainedError(`cannot read --discovery-file ${file}: ${reasonOf(error)}`, { cause: error })
  }
}

/** A kubeconfig whose authority is a file. */
async function placeOfContext(file: string): Promise<ClusterPlace | undefined> {
  const { url, ca } = kubeconfigAccess(await contextOf([file]))
  return ca === undefined ? undefined : { url, ca }
}
