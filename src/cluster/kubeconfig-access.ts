/** The API server of a component that runs alone. */
import { resolve } from 'node:path'
import type { ServerAccess } from '../client/connection/connection.ts'
import { kubeconfigAccess, loadAccess } from '../client/connection/load-access.ts'
import { clusterEnvironment } from '../kubeconfig/find-cluster.ts'
import { contextOf } from '../kubeconfig/read-context.ts'

/** Reads a kubeconfig; without one, finds the cluster as all commands do, or by the service account of the pod. */
export const accessOf = async (kubeconfig: string | undefined): Promise<ServerAccess> =>
  kubeconfig
    ? kubeconfigAccess(await contextOf([resolve(kubeconfig)]))
    : loadAccess({ environment: await clusterEnvironment({}) })
