/** A subquery of the accounts under control, with their names as the column `name`. */
export const namedAccounts = `(select account.*,
  case when count(*) over (partition by target) = 1 then target else source || '/' || target end as name
  from dimsync_controller.account where removed_at is null)`;
