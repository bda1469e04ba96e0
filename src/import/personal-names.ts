/** Names of columns that look personal, by what they usually contain. docs/data-protection.md lists them. */
export const personalNames: readonly { readonly about: string; readonly column: readonly string[] }[] = [
  { about: "contact", column: ["*email*", "*e_mail*", "*phone*", "*mobile*", "*fax*"] },
  {
    about: "name",
    column: [
      "*first_name*",
      "*firstname*",
      "*last_name*",
      "*lastname*",
      "*full_name*",
      "*fullname*",
      "*surname*",
      "*maiden*",
      "*contact_name*",
    ],
  },
  { about: "address", column: ["*street*", "*address*", "*postcode*", "*postal_code*", "*zip_code*", "*zipcode*", "!*mac_address*"] },
  { about: "birth and person", column: ["*birth*", "dob", "*_dob", "*gender*", "*nationality*", "*marital*", "*religion*", "*ethnic*"] },
  {
    about: "identity number",
    column: ["*national_id*", "*passport*", "*ssn*", "*social_security*", "*tax_id*", "*driver_licen*", "*vat_number*"],
  },
  { about: "payment", column: ["*iban*", "*card_number*", "*card_last*", "*account_number*", "*credit_card*"] },
  { about: "device and place", column: ["ip", "*_ip", "ip_*", "*device_id*", "*latitude*", "*longitude*", "*user_agent*"] },
  { about: "health and pay", column: ["*diagnos*", "*medical*", "*disabilit*", "*salary*", "*wage*"] },
];
