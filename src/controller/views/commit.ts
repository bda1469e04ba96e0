/** SQL: whether the bundle with this digest had uncommitted changes; null without a bundle. */
export const isDirty = (digest: string): string => `(select b.dirty from dimsync_controller.bundle b where b.digest = ${digest})`;

interface CommitColumns {
  readonly git_commit: string | null;
  readonly dirty: boolean | null;
}

/** The members for a bundle's git commit. */
export const commitOf = ({ git_commit: commit, dirty }: CommitColumns): { readonly commit?: string; readonly dirty?: true } => ({
  ...(commit === null ? {} : { commit }),
  ...(dirty === true ? { dirty } : {}),
});
